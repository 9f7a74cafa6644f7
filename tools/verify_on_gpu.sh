#!/usr/bin/env bash
# Runs every example on a machine with an NVIDIA GPU, linked with the static and with the shared CUDA
# runtime, with lazy and eager module loading, and holds the verdicts against the sources. Needs a
# built tree in build/ (it may have been built elsewhere and carried here). Prints a table and
# `N passed, N failed`.
#   tools/verify_on_gpu.sh [PATTERN]     only programs whose name matches the pattern
set -u
cd "$(dirname "$0")/.."
pattern=${1:-.}
build=${BUILD:-build}
barracuda=$build/bin/barracuda
programs=$build/programs
passed=0 failed=0 failures=()

check() {  # name, then the arguments of program_runner.py
  local name=$1
  shift
  [[ $name =~ $pattern ]] || return 0
  local output
  if output=$(timeout 120 python3 tests/e2e/program_runner.py --barracuda "$barracuda" --device gpu "$@" 2>&1); then
    passed=$((passed + 1))
    printf '| %-46s | %s |\n' "$name" "as expected"
  else
    failed=$((failed + 1))
    failures+=("--- $name"$'\n'"$(head -c 1500 <<<"$output")")
    printf '| %-46s | %s |\n' "$name" "WRONG"
  fi
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
printf '| %-46s | verdict |\n| --- | --- |\n' program
for cudart in "" .static; do
  link=$([ -n "$cudart" ] && echo static || echo shared)
  for source in examples/*.cu; do
    name=$(basename "$source" .cu)
    for loading in LAZY EAGER; do
      CUDA_MODULE_LOADING=$loading check "$name ($link, $loading)" --source "$source" "$programs/$name$cudart"
    done
  done
  for verdict in race fixed; do
    check "rdc_$verdict ($link)" --source examples/rdc/rdc_$verdict.cu --source examples/rdc/rdc_${verdict}_total.cu \
      "$programs/rdc_$verdict$cudart"
    check "driver_api_$verdict ($link)" --source examples/driver_api/driver_api_$verdict.cu \
      "$programs/driver_api$cudart" "$programs/driver_api_$verdict.ptx"
    check "nvrtc_$verdict ($link)" --source examples/nvrtc/nvrtc.cpp --key "$verdict" --any-line "$programs/nvrtc$cudart" "$verdict"
  done
done
printf '%s\n' "${failures[@]:-}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
