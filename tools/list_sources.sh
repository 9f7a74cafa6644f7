#!/usr/bin/env bash
# Lists the tree's own files with the given extensions, one a line: what git tracks or would track, or
# all but build folders where there is no repository.
set -euo pipefail
cd "$(dirname "$0")/.."

patterns=()
for extension in "$@"; do
  patterns+=("*.$extension")
done
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  # A file that was deleted and not yet committed is still listed.
  git ls-files --cached --others --exclude-standard -- "${patterns[@]}"
else
  expression=(-false)
  for pattern in "${patterns[@]}"; do
    expression+=(-o -name "$pattern")
  done
  find . -path './build*' -prune -o -type f \( "${expression[@]}" \) -printf '%P\n'
fi | sort | while read -r file; do
  if [ -f "$file" ]; then
    echo "$file"
  fi
done
