# The ranks of an MPI program: all under one `run`, or each under its own. mpirun starts any program, so
# that no MPI library is needed.
. "$(dirname "$0")/expect.sh"
if ! command -v mpirun >/dev/null; then
  echo "SKIPPED, nothing was tested: there is no mpirun (Debian: openmpi-bin)"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ranks=(mpirun --oversubscribe -n 3)
rank='%q{OMPI_COMM_WORLD_RANK}'

expect_races() {  # in each rank's file
  local file
  for number in 0 1 2; do
    file=$folder/$1-$number.jsonl
    grep -q '"type":"summary".*"races":[1-9]' "$file" || fail "no races in $file"
  done
}

run "$barracuda" run --device cpu --json "$folder/inside-$rank.jsonl" -- "${ranks[@]}" "$programs/histogram_race"
expect_status 66 "ranks under one run"
expect_err 'BARRACUDA SUMMARY: [1-9][0-9]* races? \('
[ "$(grep -c 'BARRACUDA SUMMARY' "$folder/err")" -eq 1 ] || fail "more than one summary"
expect_races inside
[ ! -e "$folder/inside-.jsonl" ] || fail "run itself wrote a rank's file"

run "${ranks[@]}" "$barracuda" run --device cpu --error-exitcode 0 --json "$folder/each-$rank.jsonl" -- "$programs/histogram_race"
expect_status 0 "a run for each rank"
expect_races each

run "$barracuda" run --device cpu --json "$folder/clean.jsonl" -- "${ranks[@]}" "$programs/histogram_fixed"
expect_status 0 "clean ranks"
expect_err 'BARRACUDA SUMMARY: 0 races'

run "$barracuda" run --device cpu --json "$folder/x-%q{NO_LAUNCHER_SETS_THIS}.jsonl" -- "${ranks[@]}" "$programs/histogram_race"
expect_status 70 "a variable that no rank has"
expect_err "'NO_LAUNCHER_SETS_THIS' is not set"
finish
