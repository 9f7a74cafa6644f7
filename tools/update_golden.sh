#!/usr/bin/env bash
# Rewrites tests/golden/ptx/cases/*.expected from what the instrumentation does now. Read the diff.
#   tools/update_golden.sh [build folder]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
cmake --build "$build" --target barracuda.test.golden_ptx
BARRACUDA_UPDATE_GOLDEN=1 "$build/bin/barracuda.test.golden_ptx" "every golden case*"
git --no-pager diff --stat -- tests/golden/ptx/cases
