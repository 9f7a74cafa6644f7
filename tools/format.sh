#!/usr/bin/env bash
# Formats every C++ and CUDA source of the tree in place.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/list_sources.sh 'h' 'cpp' 'cu' 'cuh' | xargs -d '\n' -r clang-format-19 -i
