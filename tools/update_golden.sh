#!/usr/bin/env bash
# Rewrites tests/golden/ptx/cases/*.expected from what the instrumentation does now, the table of
# docs/PTX.md from the forms of ptx/opcodes.def, and tests/e2e/golden from what the tool reports of the
# examples. Read the diff.
#   tools/update_golden.sh [build folder]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
cmake --build "$build" --target barracuda.test.golden_ptx barracuda barracuda.cli barracuda.programs
BARRACUDA_UPDATE_GOLDEN=1 "$build/bin/barracuda.test.golden_ptx" "every golden case*,docs/PTX.md*"
NVCC=$(sed -n 's/^BARRACUDA_NVCC:[A-Z]*=//p' "$build/CMakeCache.txt") \
  tests/e2e/golden_reports.py --barracuda "$build/bin/barracuda" --programs "$build/programs" --update
git --no-pager diff --stat -- tests/golden/ptx/cases docs/PTX.md tests/e2e/golden
