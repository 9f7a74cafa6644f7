#!/usr/bin/env bash
# Runs the load programs at their full size and prints what each took: time, largest process, races.
# Usage: benchmarks/load.sh [build folder]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
runner=(python3 tests/e2e/load/run_load.py --barracuda "$build/bin/barracuda")

"${runner[@]}" --races 1 --count 1048576 "$build/programs/million_threads"
for writes in 1000000 10000000 100000000; do
  "${runner[@]}" "$build/programs/same_word" "$writes"
done
python3 tests/e2e/load/launches.py --barracuda "$build/bin/barracuda" "$build/programs/many_launches" \
  10000 100000 1000000
