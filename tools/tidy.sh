#!/usr/bin/env bash
# clang-tidy on the C++ sources given, or on all that build/ compiles: what git sees as changed first,
# tests last. What it found nothing in, and has not changed since, it does not read again (tidy_seen.py),
# and the rest it reads many at a time (tidy_units.py, which has the options --seconds=N and --checks=…).
set -euo pipefail
cd "$(dirname "$0")/.."

options=()
while [[ "${1:-}" == --* ]]; do
  options+=("$1")
  shift
done

# How each source is compiled. Where build/ compiles some at a time (BARRACUDA_UNITE), a second one says so that is
# configured and not built: what is generated for it lies in build/.
commands=build/compile_commands.json
rm -f build/single_commands.json
if grep -qs '^BARRACUDA_UNITE:BOOL=ON' build/CMakeCache.txt; then
  cmake --preset ci -B build/single -DBARRACUDA_UNITE=OFF >build/configure-single.log || {
    cat build/configure-single.log >&2
    exit 1
  }
  commands=build/single_commands.json
  sed "s#$PWD/build/single#$PWD/build#g" build/single/compile_commands.json >"$commands"
fi

compiled() {
  python3 - "$PWD/" "$commands" <<'PYTHON'
import json, sys
root = sys.argv[1]
for entry in json.load(open(sys.argv[2])):
    name = entry["file"]
    if name.startswith(root) and not name.startswith((root + "build", root + "tests/golden")):
        print(name[len(root):])
PYTHON
}

if [ $# -gt 0 ]; then
  files=("$@")
else
  if [ ! -e "$commands" ]; then
    echo "configure first: cmake --preset ci" >&2
    exit 1
  fi
  changed=$( (git diff --name-only HEAD; git diff --name-only HEAD~1) 2>/dev/null || true)
  mapfile -t files < <(compiled | sort -u | changed=$changed awk '
    BEGIN { count = split(ENVIRON["changed"], names, "\n"); for (i = 1; i <= count; ++i) first[names[i]] = 1 }
    { print ($0 in first ? 0 : /^tests\// ? 2 : 1) "\t" $0 }' | sort -s -k1,1 | cut -f2)
fi
tools/tidy_seen.py keys "${files[@]}" | tools/tidy_seen.py unseen | tools/tidy_units.py "${options[@]}"
