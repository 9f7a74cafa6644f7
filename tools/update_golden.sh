#!/usr/bin/env bash
# Rewrites tests/golden/ptx/cases/*.expected from what the instrumentation does now, and the table of
# docs/PTX.md from the forms of ptx/opcodes.def. Read the diff.
#   tools/update_golden.sh [build folder]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
cmake --build "$build" --target barracuda.test.golden_ptx
BARRACUDA_UPDATE_GOLDEN=1 "$build/bin/barracuda.test.golden_ptx" "every golden case*,docs/PTX.md*"
git --no-pager diff --stat -- tests/golden/ptx/cases docs/PTX.md
