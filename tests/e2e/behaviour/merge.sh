# What several processes have left makes the same report as one run of them all: a JSON report, a trace,
# the spools of a run; and the folder of a run that was killed.
. "$(dirname "$0")/expect.sh"
export TMPDIR=$folder/tmp
mkdir "$TMPDIR"
tool=("$barracuda" run --device cpu --seed 1)
program=$programs/shared_sum_race

without_pids() { sed 's/"pid":[0-9]*//g' "$1"; }

run "${tool[@]}" --json "$folder/run.json" -- sh -c "RANK=0 $program; RANK=1 $program; RANK=2 $program"
expect_status 66 "three ranks in one run"
cp "$folder/err" "$folder/run.err"

run env RANK=0 "${tool[@]}" --json "$folder/0.json" -- "$program"
run env RANK=1 "${tool[@]}" --record "$folder/1.trace" -- "$program"
run "${tool[@]}" -- sh -c "RANK=2 $program; cp -r \$BARRACUDA_RUN_DIRECTORY $folder/2.spools"
run "$barracuda" merge --json "$folder/merged.json" "$folder/2.spools" "$folder/1.trace" "$folder/0.json"
expect_status 66 "merge"
expect_err '^  Seen in: ranks 0-2 of shared_sum_race$'
cmp -s "$folder/err" "$folder/run.err" || { fail "merged and run as one differ"; diff "$folder/err" "$folder/run.err"; }
[ "$(without_pids "$folder/merged.json")" = "$(without_pids "$folder/run.json")" ] ||
  { fail "the JSON reports differ"; diff <(without_pids "$folder/merged.json") <(without_pids "$folder/run.json"); }

# A run that was killed.
RANK=4 "${tool[@]}" -- sh -c "$program; exec sleep 600" 2>"$folder/err" &
killed=$!
for _ in $(seq 100); do
  ! grep -qs '"ended"' "$TMPDIR"/barracuda-run-*/reports/*.spool || break
  sleep 0.1
done
kill -KILL $killed
wait $killed 2>/dev/null
run "$barracuda" merge "$folder/0.json" "$TMPDIR"/barracuda-run-*
expect_status 66 "merge with a killed run"
expect_err '^  Seen in: ranks 0, 4 of shared_sum_race$'
expect_err 'not covered: barracuda run was killed'
rm -r "$TMPDIR"/barracuda-run-*

# What is none.
mkdir "$folder/empty"
for file in "$folder/empty" "$folder/nothing" "$program"; do
  run "$barracuda" merge "$folder/0.json" "$file"
  expect_status 64 "merge $file"
  expect_err "$file"
done
head -c 20 "$folder/1.trace" >"$folder/cut.trace"
run "$barracuda" merge "$folder/0.json" "$folder/cut.trace"
expect_status 64 "a trace that was cut off at once"
finish
