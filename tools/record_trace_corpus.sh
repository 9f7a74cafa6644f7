#!/usr/bin/env bash
# Records the traces of tests/fuzz/corpus/trace again: after a change of the trace's format the fuzz
# tests have nothing that the reader accepts. Needs a build; usage: tools/record_trace_corpus.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
corpus=tests/fuzz/corpus/trace

# NAME OPTIONS -- PROGRAM [ARGUMENTS]; what a racy program ends with is no failure here.
record() {
  local name=$1
  shift
  rm -f "$corpus/$name.trace"
  build/bin/barracuda run --device cpu --error-exitcode 0 --record "$corpus/$name.trace" "$@" \
    >build/record.log 2>&1 || true
  test -s "$corpus/$name.trace" || { cat build/record.log; exit 1; }
  ls -l "$corpus/$name.trace"
}

programs=build/programs
record shared_sum_race -- $programs/shared_sum_race
record histogram_race -- $programs/histogram_race
record killed -- $programs/killed trap
record two_processes -- sh -c "$programs/shared_sum_race; $programs/histogram_race"
record branch_order_paper --model paper -- $programs/branch_order_race
record copy_beside_kernel -- $programs/litmus_copy_beside_kernel_race
record dependent_launch -- $programs/litmus_dependent_wait_one_thread_race
