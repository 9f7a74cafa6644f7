#!/usr/bin/env bash
# Runs the programs of litmus_suite/weak on a machine with an NVIDIA GPU with delayed stores, each several
# times for each of two probabilities with seeds of their own, and prints how often each failed. A program
# with all its fences must never fail: that is status 1. How often one without some of them fails is a
# finding, not a fault. Needs a built tree in build/, or in BUILD, with build/programs (ninja -C build
# barracuda.programs); it may have been built elsewhere and carried here.
#   tools/verify_delays_on_gpu.sh [RUNS]     20 runs of each program and probability
# A run is a process that does all of its program ROUNDS=1 times; each launch draws anew.
# PROBABILITIES="1 0.5", JOBS=12 runs at the same time, SECONDS_EACH=20 for each. DEVICE=cpu rewrites the
# programs in the same way and runs them on the emulated device. ONLY=REGEX leaves out the others, and
# FIRST_SEED=61 goes on where 60 runs ended. At last it prints what delays cost the programs that have
# their fences.
set -u
cd "$(dirname "$0")/.."
runs=${1:-20} first_seed=${FIRST_SEED:-1}
export build=${BUILD:-build} device=${DEVICE:-gpu} limit=${SECONDS_EACH:-20} rounds=${ROUNDS:-1}
results=$(mktemp -d)
export results
trap 'rm -rf "$results"' EXIT

if [ "$device" = gpu ]; then
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 1
fi

run_one() {  # program, probability, seed: one line of output if it failed
  local program=$build/programs/$1 report output code=0
  report=$results/$1.$2.$3.report
  output=$(timeout "$limit" "$build/bin/barracuda" run --device "$device" --delay-levels rewrite --delay-stores "$2" \
    --weak-seed "$3" --log-file "$report" -- "$program" "$rounds" 2>&1) || code=$?
  rm -f "$report"
  if [ $code -ne 0 ]; then
    echo "status $code: $(tail -n 1 <<<"$output" | tr '|' ' ')" >"$results/$1.$2.$3"
  fi
}
export -f run_one

programs=()
fenced=()
for source in litmus_suite/weak/*.cu; do
  name=$(basename "$source" .cu)
  for variant in "" $(sed -nE 's|^// variant ([a-z0-9_]+): .*|\1|p' "$source"); do
    program=weak_$name${variant:+_$variant}
    if [ ! -x "$build/programs/$program" ]; then
      echo "$build/programs/$program is not built" >&2
      exit 1
    fi
    [[ $program =~ ${ONLY:-.} ]] || continue
    programs+=("$program")
    [ -n "$variant" ] || fenced+=("$program")
  done
done

status=0
printf '| %-34s | p | failed of %d runs of %d rounds | first failure |\n| --- | --- | --- | --- |\n' program "$runs" "$rounds"
for probability in ${PROBABILITIES:-1 0.5}; do
  for program in "${programs[@]}"; do
    for ((seed = first_seed; seed < first_seed + runs; ++seed)); do
      echo "$program $probability $seed"
    done | xargs -P "${JOBS:-12}" -L 1 bash -c 'run_one "$@"' run_one
    failures=("$results/$program.$probability".*)
    [ -e "${failures[0]}" ] || failures=()
    first=${failures[0]:+$(cat "${failures[0]}")}
    printf '| %-34s | %s | %d | %s |\n' "$program" "$probability" ${#failures[@]} "$first"
    if [[ " ${fenced[*]} " == *" $program "* ]] && [ ${#failures[@]} -ne 0 ]; then
      echo "$program fails with all its fences" >&2
      status=1
    fi
  done
done

# What a run costs: the middle one of five, of the whole program.
milliseconds() {  # command…
  local begin
  for _ in 1 2 3 4 5; do
    begin=$(date +%s%N)
    timeout "$limit" "$@" >/dev/null 2>&1 || true
    echo $((($(date +%s%N) - begin) / 1000000))
  done | sort -n | sed -n 3p
}

printf '\n| %-34s | alone, ms | with delays, ms |\n| --- | --- | --- |\n' program
for program in "${fenced[@]}"; do
  alone=$(milliseconds "$build/programs/$program")
  delayed=$(milliseconds "$build/bin/barracuda" run --device "$device" --delay-levels rewrite --delay-stores 1 \
    --log-file /dev/null -- "$build/programs/$program")
  printf '| %-34s | %d | %d |\n' "$program" "$alone" "$delayed"
done
exit $status
