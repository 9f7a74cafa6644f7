#!/usr/bin/env bash
# Runs programs on a machine with an NVIDIA GPU and holds the verdicts against the sources: every
# example, linked with the static and with the shared CUDA runtime, with lazy and eager module loading,
# the graph programs of tests/e2e, the litmus suite and the benchmark programs. Needs a built tree in
# build/ (it may have been built elsewhere and carried here). Prints a table, with what was wrong on
# standard error, and `N passed, N failed`.
#   tools/verify_on_gpu.sh [PATTERN]     only programs whose name matches the pattern
set -u
cd "$(dirname "$0")/.."
pattern=${1:-.}
build=${BUILD:-build}
barracuda=$build/bin/barracuda
programs=$build/programs
passed=0 failed=0

check() {  # name, then the arguments of the runner
  local name=$1
  shift
  [[ $name =~ $pattern ]] || return 0
  local output status=0
  output=$(timeout "${SECONDS_EACH:-120}" python3 "${runner:-tests/e2e/program_runner.py}" --barracuda "$barracuda" --device gpu "$@" 2>&1) || status=$?
  if grep -q 'no kernel image is available' <<<"$output"; then
    printf '| %-46s | %s |\n' "$name" "not for this GPU"
  elif [ $status -eq 0 ] || [ $status -eq 77 ]; then  # 77: the places of copies are unknown
    passed=$((passed + 1))
    printf '| %-46s | %s |\n' "$name" "as expected$([ $status -eq 0 ] || echo ", but for lines of the host (no libdw.so.1)")"
  else
    failed=$((failed + 1))
    printf '| %-46s | %s |\n' "$name" "WRONG"
    head -c 1500 <<<"$output" >&2
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
for source in tests/e2e/programs/graph_*.cu; do
  name=$(basename "$source" .cu)
  check "$name" --source "$source" "$programs/$name"
done
for source in litmus_suite/suite/*.cu litmus_suite/modern/*.cu; do
  name=$(basename "$source" .cu)
  check "litmus: $name" --source "$source" "$programs/litmus_$name"
done
for source in benchmarks/programs/*.cu; do
  name=$(basename "$source" .cu)
  options=()  # as benchmarks/programs/CMakeLists.txt has it
  [ "$name" != cub_device_sort_runs ] || options=(--option library-suppressions=0)
  runner=benchmarks/programs/benchmark_runner.py check "bench: $name" --source "$source" "${options[@]}" "$programs/bench_$name"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
