# shellcheck shell=bash
# What the scripts share; sourced, not run. It starts in the tree's root.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

cores=$(nproc)
passed=0
failed=0

step="" step_began=0 step_times=()

end_step() {
  if [ -n "$step" ]; then
    step_times+=("$(printf '%4d:%02d  %s' $(((SECONDS - step_began) / 60)) $(((SECONDS - step_began) % 60)) "$step")")
  fi
  step="" step_began=$SECONDS
}

# A new step; what it takes is printed at the end.
say() {
  end_step
  step=$*
  printf '\n== %s\n' "$*"
}

# What each step took, and the counts as the last line, whatever happened; a step that broke off counts
# as one failure.
print_counts_at_exit() {
  trap 'status=$?
        end_step
        printf "\n== Minutes\n"
        printf "%s\n" "${step_times[@]}"
        if [ $status -ne 0 ] && [ $failed -eq 0 ]; then failed=1; fi
        printf "%d passed, %d failed\n" $passed $failed
        [ $failed -eq 0 ] && [ $status -eq 0 ] || exit 1' EXIT
}

# set_up: packages and compiler. build PRESET [TARGET...]: configures and builds.
set_up() {
  say "Set-up"
  tools/install_packages.sh "$@"
  tools/install_cuda.sh
  tools/install_cuda.sh older
}

# A first build compiles sources some at a time (BARRACUDA_UNITE); one that goes on keeps what it has. The other presets
# take the PTX that nvcc has written for the tests of preset ci.
build() {
  local preset=$1 options=()
  shift
  say "Build (preset $preset)"
  if [ "$preset" != ci ]; then
    [ ! -e build/tests/golden/ptx/nvvm/written ] || options=("-DBARRACUDA_TEST_PTX_OF=$PWD/build")
  elif [ ! -e build/CMakeCache.txt ]; then
    options=(-DBARRACUDA_UNITE=ON)
  fi
  mkdir -p build
  if ! cmake --preset "$preset" "${options[@]}" >"build/configure-$preset.log" 2>&1; then
    cat "build/configure-$preset.log"
    return 1
  fi
  cmake --build --preset "$preset" --parallel "$cores" ${1:+--target "$@"}
}

# run_tests PRESET [CTEST OPTIONS...]: runs what the preset selects and adds to the counts. No test at
# all is a failure.
run_tests() {
  local preset=$1 log="build/tests-$1.log" summary status=0
  shift
  say "Tests (preset $preset)"
  ctest --preset "$preset" --parallel "$cores" --no-tests=error "$@" 2>&1 | tee "$log" || status=$?
  # "98% tests passed, 1 tests failed out of 50"
  summary=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' \
    "$log" | tail -n 1)
  local bad=${summary% *} all=${summary#* }
  if [ -z "$summary" ] || [ "$all" -eq 0 ]; then
    echo "no test has run"
    failed=$((failed + 1))
    return 1
  fi
  failed=$((failed + bad))
  passed=$((passed + all - bad))
  # Again at the end, where a log that keeps its tail has it: what the tests that failed have printed.
  [ "$bad" -eq 0 ] || awk '/^ *([0-9]+\/[0-9]+ Test|Start) / { shown = /\*\*\*/ } shown && ++lines <= 60' "$log"
  return $status
}
