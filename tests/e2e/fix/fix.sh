# barracuda fix: what is missing is found, shown as a diff that makes the program right, and written
# where the user wants it; a program without a race has nothing to be fixed.
. "$(dirname "$0")/../behaviour/expect.sh"
source=$(cd "$(dirname "$0")/../expose" && pwd)/handover.cu
flag_line=$(grep -n 'the flag$' "$source" | cut -d: -f1)
cd "$folder" || exit 1

run "$barracuda" fix --seeds 4 --json fix.json --diff fix.patch --ptx patched --litmus slices/ -- "$programs/handover_race"
expect_status 66 "the fence is missing"
expect_err '^barracuda: 4 schedules of the program as it is; edits for each race'
expect_err '^BARRACUDA: FIX: [12] of [12] races? gone with 1 edit$'
expect_err "^  Edit 1: before .*handover\.cu:$flag_line: __threadfence\(\)$"
expect_err '^    PTX: fence\.acq_rel\.gpu; a fence before the flag or lock is written$'
expect_err '^  Gone: race of .*handover\.cu:'
expect_err '^    proved: under the PTX model its slice has the race, the slice of the repaired program has none$'
expect_err '^  Shown by: proof'
expect_err '^\+    __threadfence\(\);$'
expect_err '^BARRACUDA SUMMARY: .* repaired by 1 edit \(proof\), kernels 1/1 covered$'
grep -q '"type":"fix"' fix.json || fail "the JSON report has no line of type fix"
grep -q 'fence.acq_rel.gpu' patched/module1.ptx || fail "the patched PTX has no fence"
run "$barracuda" explore --races --expect 1 slices/race2.litmus
expect_status 0 "the model has the race before"
run "$barracuda" explore --races --expect 0 slices/race2.repaired.litmus
expect_status 0 "and none after"
cp "$source" handover.cu
patch --silent handover.cu fix.patch || fail "the diff does not apply"
sed -n "${flag_line}p" handover.cu | grep -q '__threadfence();' || fail "the fence is not before the flag"

# The same again, to the last byte.
cp fix.patch first.patch
run "$barracuda" fix --seeds 4 --diff fix.patch -- "$programs/handover_race"
cmp -s first.patch fix.patch || fail "a second search says something else"

run "$barracuda" fix --seeds 4 -- "$programs/handover_reader_race"
expect_status 66 "the reader's fence is missing"
expect_err '^  Edit 1: behind the loop at .*handover\.cu:[0-9]+: __threadfence\(\)$'

# A loop that the compiler unrolled: the barrier that one round needs stands in all of them, and no
# other is proposed for those within a warp.
run "$barracuda" fix --seeds 4 -- "$programs/shared_sum_race"
expect_status 66 "a barrier is missing"
expect_err '^BARRACUDA: FIX: 1 of 1 race gone with 1 edit$'
expect_err '^  Edit 1: before .*shared_sum_race\.cu:[0-9]+: __syncthreads\(\)$'

run "$barracuda" fix --seeds 4 -- "$programs/handover_fixed"
expect_err '^BARRACUDA SUMMARY: '
expect_no_err 'Edit 1'

# Bad input is one sentence.
run "$barracuda" fix
expect_status 64 "there is no program"
expect_err 'no program to run'
run "$barracuda" fix --time soon -- "$programs/handover_race"
expect_status 64 "that is no time"
expect_err 'a time is 90s, 10m or 2h'
run "$barracuda" fix --device gpu -- "$programs/handover_race"
expect_status 64 "candidates are tried on the emulated device"
run "$barracuda" fix -- "$folder/none"
expect_status 127 "there is no such program"
run "$barracuda" fix --help
expect_status 0 "the help"
expect_out '\-\-no-barriers'
finish
