#!/usr/bin/env bash
# clang-tidy on the C++ sources given, or on all that build/ compiles: what git sees as changed first,
# tests last. What it found nothing in, and has not changed since, it does not read again (tidy_seen.py).
# With `--seconds N` it starts no further file after that time, and says how many are left.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=86400
if [ "${1:-}" = --seconds ]; then
  seconds=$2
  shift 2
fi

compiled() {
  python3 - "$PWD/" <<'PYTHON'
import json, sys
root = sys.argv[1]
for entry in json.load(open("build/compile_commands.json")):
    name = entry["file"]
    if name.startswith(root) and not name.startswith((root + "build", root + "tests/golden")):
        print(name[len(root):])
PYTHON
}

if [ $# -gt 0 ]; then
  files=("$@")
else
  if [ ! -e build/compile_commands.json ]; then
    echo "configure first: cmake --preset ci" >&2
    exit 1
  fi
  changed=$( (git diff --name-only HEAD; git diff --name-only HEAD~1) 2>/dev/null || true)
  mapfile -t files < <(compiled | sort -u | changed=$changed awk '
    BEGIN { count = split(ENVIRON["changed"], names, "\n"); for (i = 1; i <= count; ++i) first[names[i]] = 1 }
    { print ($0 in first ? 0 : /^tests\// ? 2 : 1) "\t" $0 }' | sort -s -k1,1 | cut -f2)
fi
mapfile -t unseen < <(tools/tidy_seen.py keys "${files[@]}" | tools/tidy_seen.py unseen)
echo "clang-tidy: ${#files[@]} files, ${#unseen[@]} of them new, at most $seconds seconds"

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
end=$((SECONDS + seconds))

check_one() {
  local key=$1 file=$2 log=$results/${2//\//_}
  if clang-tidy-19 -p build --quiet "$file" >"$log" 2>/dev/null; then
    rm -f "$log"
    tools/tidy_seen.py remember "$key"
  else
    grep -vE '^[0-9]+ warnings? (generated|treated)' "$log" || echo "$file: clang-tidy failed"
    touch "$log"
  fi
}

checked=0
for line in "${unseen[@]}"; do
  if [ $SECONDS -ge $end ]; then
    echo "time is up: $((${#unseen[@]} - checked)) files are not checked"
    break
  fi
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
    wait -n || true
  done
  check_one "${line%% *}" "${line#* }" &
  checked=$((checked + 1))
done
wait
bad=$(find "$results" -type f | wc -l)
echo "clang-tidy: $checked files checked, $bad with findings"
[ "$bad" -eq 0 ]
