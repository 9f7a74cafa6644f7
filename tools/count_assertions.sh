#!/usr/bin/env bash
# How many assertions there are, by folder: ASSERT (every build), DEBUG_ASSERT (debug builds),
# static_assert. What defines them is not counted.
set -euo pipefail
cd "$(dirname "$0")/.."

count() {  # of a word that is a call, in the folder's files
  git ls-files "$2/*.h" "$2/*.cpp" "$2/*.cu" "$2/*.cuh" | xargs grep -hE "$1\(" |
    grep -vE '^\s*(//|#)' | grep -oE "(^|[^_[:alnum:]])$1\(" | wc -l
}

printf '%-14s %8s %13s %14s\n' folder ASSERT DEBUG_ASSERT static_assert
all=0 all_debug=0 all_static=0
for folder in base device_logger fatbin ptx host_detector emulator report trace session jit preload weak_memory cli; do
  asserts=$(count ASSERT "$folder" || true)
  debug=$(count DEBUG_ASSERT "$folder" || true)
  static=$(count static_assert "$folder" || true)
  printf '%-14s %8d %13d %14d\n' "$folder" "$asserts" "$debug" "$static"
  all=$((all + asserts)) all_debug=$((all_debug + debug)) all_static=$((all_static + static))
done
printf '%-14s %8d %13d %14d   %d in all\n' all "$all" "$all_debug" "$all_static" \
  $((all + all_debug + all_static))
