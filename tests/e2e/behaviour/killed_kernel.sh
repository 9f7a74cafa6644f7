# Kernels that die or do not end: what they did before is reported, and what the program does later is
# checked as ever.
. "$(dirname "$0")/expect.sh"

for mode in self-validating fence-and-flag; do
  run timeout 120 "$barracuda" run --device cpu --commit $mode --json "$folder/report" -- "$programs/killed" trap
  expect_status 66 "a trap, $mode"
  expect_out '^cudaErrorLaunchFailure$'
  expect_out '^works after the reset$'
  grep '"type":"memory-error"' "$folder/report" | grep -q '"block":\[3,0,0\]' || fail "the trap is not reported with its block"
  expect_err 'Thread \[[0-9]+,0,0\] of block \[3,0,0\] \(.*\) ended its kernel:'
  grep '"type":"race"' "$folder/report" | grep -q 'races' || fail "the race after the reset is not reported"
  expect_err 'not covered: kernel dies\(int\*\) was ended before its end'
  expect_err 'coverage incomplete'
done

for where in far shared; do
  run timeout 120 "$barracuda" run --device cpu -- "$programs/killed" $where
  expect_status 66 "an access far out of bounds, $where"
  expect_out '^cudaErrorIllegalAddress$'
  expect_err 'memory error: '
  expect_err 'by thread \[7,0,0\] of block \[0,0,0\]'
  expect_no_err 'malformed'
  expect_err 'not covered: kernel goes_astray.* was ended before its end'
done

run timeout 120 "$barracuda" run --device cpu --launch-timeout 2 --at-launch-timeout end --json "$folder/report" -- "$programs/killed" hang
expect_status 66 "at-launch-timeout=end"
expect_out '^cudaErrorLaunchTimeout$'
expect_err 'ERROR: timeout: kernel spins\(int volatile\*\) did not end within 2 s \(launch-timeout\)'
expect_err 'Thread \[0,0,0\] of block \[0,0,0\] \(warp 0, lane 0\) runs here:'
expect_err '#0 spins.*killed.cu:[0-9]'
expect_no_err '__barracuda'
expect_err 'SUMMARY: [12] races? .*, 1 timeout, .*coverage incomplete'
grep '"type":"timeout"' "$folder/report" | grep -q '"missing":"kernel spins(int volatile\*) did not end' || fail "the timeout has no type of its own"
expect_no_err 'is not over'
grep -q '"type":"race"' "$folder/report" || fail "the race before the endless kernel is not reported"

# Told of, and the program goes on: until it is interrupted, or the kernel ends.
"$barracuda" run --device cpu --launch-timeout 1 -- "$programs/killed" hang >"$folder/out" 2>"$folder/err" &
tool=$!
for _ in $(seq 600); do
  grep -q 'is not over' "$folder/err" && break
  sleep 0.1
done
# A loop that waits is logged when it is over.
expect_err 'launch 2 \(spins.*\) is not over 1 seconds .* and has logged nothing so far: .*its threads wait for what never comes'
sleep 0.5
kill -TERM "$(pgrep -P $tool -f killed)" || fail "the program did not go on"
wait $tool
expect_no_err 'did not end within'
expect_err '[1-9][0-9]* races?'
[ "$(grep -c 'is not over' "$folder/err")" -eq 1 ] || fail "it is told of more than once"

run timeout 120 "$barracuda" run --device cpu --launch-timeout 1 -- "$programs/killed" poll
expect_status 0 "a kernel that polls for long, and one behind it"
expect_out '^cudaSuccess$'
expect_err 'launch 1 \(polls.*has logged [1-9][0-9]* records so far'
# The other is told of where detection is not two seconds behind.
for launch in 1 2; do
  [ "$(grep -c "launch $launch .* is not over" "$folder/err")" -le 1 ] || fail "each is to be told of once"
done

run timeout 120 "$barracuda" run --device cpu --launch-timeout 1 -- "$programs/killed" quiet
expect_status 0 "a kernel that computes for long"
expect_out '^cudaSuccess$'
expect_err 'launch 1 \(.*computes.*\) is not over 1 seconds .* and has logged nothing so far: it computes'

run timeout 120 "$barracuda" run --device cpu --launch-timeout 0 -- "$programs/killed" quiet
expect_no_err 'is not over'
finish
