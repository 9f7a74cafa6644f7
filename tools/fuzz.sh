#!/usr/bin/env bash
# Gives each target of tests/fuzz damaged input for an hour, or for the seconds given, one after another, and
# prints the table that docs/MEASUREMENTS.md holds. What a target found worth keeping stays in
# build-dev/corpus for the next time. Fails where an input crashed, hung or took absurd memory: it lies in
# build-dev/.  Usage: tools/fuzz.sh [SECONDS [TARGET...]]
source "$(dirname "$0")/steps.sh"
set -euo pipefail
seconds=${1:-3600}
shift || true
targets=("${@:-}")
[ -n "${targets[0]}" ] || targets=(fatbin ptx trace)

tools/install_packages.sh fuzz
build dev barracuda.fuzz

declare -A kept=([fatbin]=fuzz/corpus/fatbin [ptx]="fuzz/corpus/ptx golden/ptx/cases"
                 [trace]="fuzz/corpus/trace fuzz/corpus/trace_events")
rows=() status=0
for target in "${targets[@]}"; do
  log=build-dev/fuzz-$target.log verdict=none
  say "$target, $seconds s (log in $log)"
  read -ra folders <<<"${kept[$target]}"
  "build-dev/bin/barracuda.fuzz.$target" "-max_total_time=$seconds" -timeout=30 -rss_limit_mb=6144 \
    -print_final_stats=1 "-artifact_prefix=build-dev/$target-" "build-dev/corpus/$target" \
    "${folders[@]/#/tests/}" >"$log" 2>&1 || { verdict="see $log" status=1; }
  executions=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 | cut -d' ' -f2)
  rows+=("| $target | $seconds | ${executions:-?} | ${edges:-?} | $verdict |")
done
printf '\n| target | seconds | inputs | edges of the code reached | crashes |\n| --- | --- | --- | --- | --- |\n'
printf '%s\n' "${rows[@]}"
exit $status
