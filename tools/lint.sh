#!/usr/bin/env bash
# What a compiler does not check: format, who includes whom, what is cited, file length, unfinished work.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v clang-format-19 >/dev/null; then
  echo "clang-format-19 is missing: tools/install_packages.sh lint" >&2
  exit 1
fi

longest=600
status=0

mapfile -t sources < <(tools/list_sources.sh h cpp cu cuh)
echo "format: ${#sources[@]} files"
unformatted=$(printf '%s\0' "${sources[@]}" |
  xargs -0 -n 40 -P "$(nproc)" clang-format-19 --dry-run -Werror 2>&1 |
  sed -nE 's/^([^:]+):[0-9]+:[0-9]+: error: .*/\1/p' | sort -u) || true
if [ -n "$unformatted" ]; then
  echo "not formatted (tools/format.sh does it):"
  echo "$unformatted"
  status=1
fi

echo "layering"
printf '%s\n' "${sources[@]}" | python3 tools/lint_layering.py . || status=1

echo "methods: at most 30 a class"
printf '%s\n' "${sources[@]}" | python3 tools/lint_methods.py || status=1

echo "citations"
# All files, for what is cited may be of any kind; the scripts of the root have no extension.
tools/list_sources.sh '*' | python3 tools/lint_citations.py . || status=1

echo "numbers"
python3 tools/lint_numbers.py . || status=1

echo "racy programs: each has its kind of repair"
python3 litmus_suite/run_fix.py --missing || status=1

mapfile -t sources < <(tools/list_sources.sh h cpp cu cuh py sh)
echo "length: at most $longest lines"
for source in "${sources[@]}"; do
  lines=$(wc -l <"$source")
  if [ "$lines" -gt "$longest" ]; then
    echo "$source has $lines lines: split it by noun"
    status=1
  fi
done

echo "unfinished work"
# The brackets keep these words out of this file.
if grep -nE '\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b' "${sources[@]}" .ci/run check demo; then
  status=1
fi
exit $status
