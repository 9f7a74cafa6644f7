#!/usr/bin/env bash
# Runs the programs of litmus_suite/weak on a machine with an NVIDIA GPU, without the tool, each several
# times, and prints how often each failed. A program with all its fences must never fail: that is status 1.
# How often one without some of them fails is a finding, not a fault. Needs build/programs (ninja -C build
# barracuda.programs); it may have been built elsewhere and carried here.
#   tools/verify_weak_on_gpu.sh [RUNS]     100 runs of each program
set -u
cd "$(dirname "$0")/.."
runs=${1:-100}
programs=${BUILD:-build}/programs

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 1
status=0
printf '| %-34s | failed of %d | first failure |\n| --- | --- | --- |\n' program "$runs"
for source in litmus_suite/weak/*.cu; do
  name=$(basename "$source" .cu)
  for variant in "" $(sed -nE 's|^// variant ([a-z0-9_]+): .*|\1|p' "$source"); do
    program=$programs/weak_$name${variant:+_$variant}
    if [ ! -x "$program" ]; then
      echo "$program is not built" >&2
      exit 1
    fi
    failed=0 first=
    for ((run = 0; run < runs; ++run)); do
      code=0
      output=$(timeout 60 "$program" 2>&1) || code=$?
      if [ $code -ne 0 ]; then
        failed=$((failed + 1))
        first=${first:-"$output (status $code)"}
      fi
    done
    printf '| %-34s | %d | %s |\n' "$name${variant:+, $variant}" $failed "$first"
    if [ -z "$variant" ] && [ $failed -ne 0 ]; then
      echo "$name fails with all its fences" >&2
      status=1
    fi
  done
done
exit $status
