#!/usr/bin/env bash
# What CI has no time for: the reference detector on many large random traces, each fuzz target for an
# hour, the sanitizers over every folder, every header alone, every mutation of the detector, of the rewriter and of the weak memory, the whole
# litmus suite under 20 seeds, all intrinsics of LLVM, the advice of every report followed, clang-tidy on every file. Needs a build (./check). Prints the table of docs/MEASUREMENTS.md;
# logs lie in build/nightly. Usage: tools/nightly.sh [STEP...], the steps as the table names them
source "$(dirname "$0")/steps.sh"
set -euo pipefail
seconds=${FUZZ_SECONDS:-3600}
traces=${RC_PARAMS:-max_success=1500 max_size=200}
wanted=("$@")
logs=build/nightly
mkdir -p "$logs"
rows=() status=0

# long_step NAME COMMAND...: the last line of its log is its result.
long_step() {
  local name=$1 log="$logs/$1.log" begin=$SECONDS verdict=passed
  shift
  if [ ${#wanted[@]} -ne 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then
    return
  fi
  say "$name (log in $log)"
  if ! "$@" >"$log" 2>&1; then
    verdict=FAILED
    status=1
    tail -n 20 "$log"
  fi
  rows+=("| $name | $(((SECONDS - begin + 30) / 60)) | $verdict | $(grep -v '^ *$' "$log" | tail -n 1 | tr -d '|') |")
}

oracle() {
  RC_PARAMS=$traces build/bin/barracuda.test.host_detector.oracle
}

mutations() {
  tools/mutate_detector.sh build/mutations
}

# Every folder but the preloaded library, which no sanitized process could load.
sanitizers() {
  local folders="base;device_logger;fatbin;ptx;host_detector;emulator;report;trace;session;jit;cli"
  cmake --preset dev -B build/sanitized -DBARRACUDA_UNITE=OFF "-DBARRACUDA_FOLDERS=$folders"
  cmake --build build/sanitized --target barracuda.test.all
  RC_PARAMS=max_success=40 ctest --test-dir build/sanitized --parallel "$cores" --no-tests=error --output-on-failure
}

headers() {
  cmake --build build --parallel "$cores" --target barracuda.header_checks
}

rewriter_mutations() {
  tools/mutate_rewriter.sh build/rewriter-mutations
}

filter_mutations() {
  tools/mutate_filter.sh build/filter-mutations
}

# Every program, with what stays unlogged and without.
filter() {
  tools/compare_filter.py --filter auto
  tools/compare_filter.py --filter on
}

weak_memory() {
  RC_PARAMS=max_success=4000 build/bin/barracuda.test.weak_memory.oracle # 20,000 programs
}

weak_memory_mutations() {
  local status=0
  tools/mutate_weak.sh build/weak-mutations || status=1
  tools/mutate_weak_memory.sh build/weak-memory-mutations || status=1
  return $status
}

# PTX as LLVM writes it for all of its intrinsics, where CI takes a tenth of the many.
intrinsics() {
  local ptxas
  ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
  mkdir -p build/nightly/nvvm
  python3 -B tests/golden/ptx/write_nvvm_modules.py "$ptxas" build/nightly/nvvm all
  BARRACUDA_NVVM_FOLDER=build/nightly/nvvm build/bin/barracuda.test.golden_ptx '*LLVM writes*'
}

# Slices of all races under the model, repairs of all races of the kinds that have one, and the suite with delays.
slices() {
  litmus_suite/run_slices.py
}

fix() {
  litmus_suite/run_fix.py
}

delays() {
  litmus_suite/run_weak.py
}

suite() {
  litmus_suite/run_suite.py --seeds 20 --model "$1"
}

long_step oracle oracle
long_step sanitizers sanitizers
long_step headers headers
for target in fatbin ptx trace; do
  long_step "fuzz-$target" tools/fuzz.sh "$seconds" "$target"
done
long_step mutations mutations
long_step rewriter-mutations rewriter_mutations
long_step filter-mutations filter_mutations
long_step filter filter
long_step weak-memory weak_memory
long_step weak-memory-mutations weak_memory_mutations
long_step intrinsics intrinsics
long_step suite-ptx suite ptx
long_step suite-paper suite paper
long_step slices slices
long_step fix fix
long_step delays delays
long_step advice tests/e2e/apply_advice.py
long_step root-causes benchmarks/weak/run_root_causes.py
long_step tidy tools/tidy.sh
printf '\n| step | minutes | verdict | last line |\n| --- | --- | --- | --- |\n'
printf '%s\n' "${rows[@]}"
exit $status
