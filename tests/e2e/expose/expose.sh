# barracuda expose: a missing fence is found, named and made repeatable; what has its fence passes; what
# cannot be judged is said to be so.
. "$(dirname "$0")/../behaviour/expect.sh"
source=$(dirname "$0")/handover.cu
data_line=$(grep -n 'data\[0\] = 41' "$source" | cut -d: -f1)
cd "$folder" || exit 1

run "$barracuda" expose --json report.json -- "$programs/handover_race"
expect_status 66 "the fence is missing"
expect_err '^barracuda: 5 runs without delays, at most 20 directed ones for each race'
expect_err 'ERROR: weak-memory failure: wrong output in [1-9][0-9]* of 20 runs \(0 of 5 without delays\)$'
expect_err "^  Missing: a fence \(acq_rel, scope gpu\) behind .*handover\.cu:$data_line, e\.g\. __threadfence\(\)$"
expect_err '^  Delayed: store of 4 bytes at 0x[0-9a-f]+ by thread \[0,0,0\] of block \[0,0,0\]$'
expect_err '^  Read: the old value by thread \[0,0,0\] of block \[1,0,0\]$'
expect_err 'Data: global; kernel hand_over\(int volatile\*, int\*, int\*\); 1 decision;'
expect_err '^  Again: barracuda run --weakness handover_race\.weakness -- '
expect_err '^BARRACUDA: race .*handover\.cu:.*: harmful: wrong output'
expect_err '^BARRACUDA SUMMARY: 1 weak-memory failure \(wrong output .*\), 1 missing fence, .*kernels 1/1 covered$'
for type in weak-memory-failure missing-fence race-effect summary; do
  grep -q "\"type\":\"$type\"" report.json || fail "the JSON report lacks $type"
done
cp "$folder/err" first

# The same again, to the last byte.
run "$barracuda" expose -- "$programs/handover_race"
cmp -s first "$folder/err" || fail "a second campaign says something else"

# The plan repeats the failure, and without its decision there is none.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  run "$barracuda" run --device cpu --weakness handover_race.weakness -- "$programs/handover_race"
  expect_out '^result 1$'
  expect_no_err 'is not the one that the plan expects'
done
grep -qE '^expect failure=output output-sha=[0-9a-f]{64}$' handover_race.weakness || fail "the plan expects no output"
grep -v '^decision' handover_race.weakness >none.weakness
run "$barracuda" run --device cpu --weakness none.weakness -- "$programs/handover_race"
expect_out '^result 42$'
expect_err '^barracuda: .*none\.weakness: the output is not the one that the plan expects \(its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}\)'

# A plan of another program repeats nothing, and says so.
sed 's/ kernel=[^ ]* / kernel=_Z5otherv /' handover_race.weakness >other.weakness
run "$barracuda" run --device cpu --weakness other.weakness -- "$programs/handover_race"
expect_err 'not covered: option weakness: .*other\.weakness: 1 of its decisions do not fit the program, the first .decision launch=[0-9]+ kernel=_Z5otherv'
expect_err 'coverage incomplete'

# By chance alone, with a check of the user's own, and without a search for the cause.
run "$barracuda" expose --random --no-root-cause --compare-output none --check 'grep -qx "result 42" %o' \
  --plan checked.weakness -- "$programs/handover_race"
expect_status 66 "the check fails"
expect_err 'weak-memory failure: a check that fails in '
[ -s checked.weakness ] || fail "there is no plan"

# A reader without its fence: scope gpu, although a narrower fence makes the device's load fresh too.
run "$barracuda" expose --compare-output stdout -- "$programs/handover_reader_race"
expect_status 66 "the reader's fence is missing"
expect_err '^  Stale: load of 4 bytes at 0x[0-9a-f]+ by thread \[0,0,0\] of block \[1,0,0\]$'
expect_err '^  Missing: a fence \(acq_rel, scope gpu\) behind '

run "$barracuda" expose --runs 6 -- "$programs/handover_fixed"
expect_status 0 "nothing is missing"
expect_err '^BARRACUDA SUMMARY: no failure in 12 runs, kernels 1/1 covered$'
expect_no_err 'correct'

run "$barracuda" expose --runs 4 -- "$programs/odd_ends" random
expect_status 0 "outputs that differ are no failure"
expect_err 'outputs were not compared: without delays they differ from run to run'
run "$barracuda" expose --compare-output stdout -- "$programs/odd_ends" random
expect_status 66 "unless the user wants them to be the same"
run "$barracuda" expose -- "$programs/odd_ends" fails
expect_status 66 "a program that always fails"
expect_err '^BARRACUDA SUMMARY: fails without delays \(another exit status, status 3, 5 of 5 runs\)'
run "$barracuda" expose --expect-status 3 --runs 4 -- "$programs/odd_ends" fails
expect_status 0 "the status that is expected"
run "$barracuda" expose -- "$programs/odd_ends" crashes
expect_status 66 "a program that always crashes"
expect_err 'fails without delays \(a crash, status 134, 5 of 5 runs\)'
run "$barracuda" expose -- sh -c 'exit 3'
expect_status 67 "it always fails, and no kernel ran"
run "$barracuda" expose -- "$programs/odd_ends" nothing
expect_status 67 "no kernel"
expect_err '^BARRACUDA SUMMARY: no kernel was launched'

run "$barracuda" expose --check no_such_command_here -- "$programs/handover_fixed"
expect_status 64 "a check that is not there"
run "$barracuda" expose --compare-output no/such/file -- "$programs/handover_fixed"
expect_status 64 "nothing to compare with"
if [ ! -e /dev/nvidiactl ]; then
  run "$barracuda" expose --device gpu -- "$programs/handover_fixed"
  expect_status 64 "a GPU that is not there"
fi
# As on a GPU, without one: the program is rewritten, and rates of runs answer.
run "$barracuda" expose --delay-levels rewrite --runs 8 -- "$programs/weak_cbe_dot_no_fence"
expect_status 66 "rewritten, a fence is missing"
expect_err '^  Missing: a fence \(acq_rel, scope gpu\) behind .*cbe_dot\.cu:'
expect_err '^  Rate: [0-9]+ to 100 % of runs fail'
# There is no hardware to stress here, but blocks can have other numbers.
run "$barracuda" expose --stress -- "$programs/handover_race"
expect_status 64 "stress without a GPU"
expect_err 'the emulated device has no hardware to stress'
run "$barracuda" run --device cpu --stress random -- "$programs/handover_fixed"
expect_status 64 "stress of one run without a GPU"
expect_err 'option stress: the emulated device has no hardware to stress'
run "$barracuda" run --device cpu --stress tuned --stress-parameters none.stress --delay-levels rewrite -- "$programs/handover_fixed"
expect_status 64 "parameters that are not there"
run "$barracuda" run --device cpu --stress cache --shuffle warps --delay-levels rewrite -- "$programs/handover_fixed"
expect_out '^result 42$'
expect_err 'races are not looked for where the program is rewritten for stress'
run "$barracuda" expose --shuffle blocks -- "$programs/handover_race"
expect_status 66 "other blocks, and the same failure"
run "$barracuda" run --device cpu --weakness handover_race.weakness -- "$programs/handover_race"
expect_out '^result 1$'
run "$barracuda" expose -- "$folder/no_such_program"
expect_status 127 "a program that is not there"
[ "$(grep -c no_such_program "$folder/err")" -eq 1 ] || fail "it is said more than once"

"$barracuda" expose --runs 100000 -- "$programs/handover_fixed" >"$folder/out" 2>"$folder/err" &
tool=$!
sleep 4
kill -TERM $tool
wait $tool
status=$?
expect_status 67 "an interruption"
expect_err 'an interruption kept the rest of the runs from being made'
expect_err '^BARRACUDA SUMMARY: no failure in [0-9]+ runs, .*incomplete$'
# On a terminal a first run that takes long is no silence.
slow="$barracuda expose --time 3s -- sh -c 'sleep 4; exec $programs/handover_fixed'"
script -qec "$slow" /dev/null >"$folder/out" 2>"$folder/err"
expect_out 'barracuda: 0 runs, 2 s: without delays'
run "$barracuda" expose --time 3s --runs 100000 -- "$programs/handover_fixed"
expect_status 67 "the time was over"
expect_err 'the time was over after 3 s'
finish
