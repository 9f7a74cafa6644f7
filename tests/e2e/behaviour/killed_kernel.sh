# Kernels that die or do not end: what they did before is reported, and what the program does later is
# checked as ever.
. "$(dirname "$0")/expect.sh"

for mode in self-validating fence-and-flag; do
  run timeout 120 "$barracuda" run --device cpu --commit $mode --json "$folder/report" -- "$programs/killed" trap
  expect_status 66 "a trap, $mode"
  expect_out '^cudaErrorLaunchFailure$'
  expect_out '^works after the reset$'
  grep -q '"type":"memory-error"' "$folder/report" || fail "the trap is not reported"
  grep '"type":"race"' "$folder/report" | grep -q 'races' || fail "the race after the reset is not reported"
  expect_err 'coverage complete'
done

run timeout 120 "$barracuda" run --device cpu --launch-timeout 2 --json "$folder/report" -- "$programs/killed" hang
expect_status 66 "launch-timeout"
expect_out '^cudaErrorLaunchTimeout$'
expect_err 'spins.*did not end within.*ran last and is here; warp 0'
expect_err '#0 spins.*killed.cu:[0-9]'
grep -q '"type":"race"' "$folder/report" || fail "the race before the endless kernel is not reported"

run timeout 120 "$barracuda" run --device cpu --quiet-notice 1 -- "$programs/killed" quiet
expect_status 0 "a kernel that computes for long"
expect_out '^cudaSuccess$'
expect_err 'launch 1 (.*computes.*) has not ended and has logged nothing for 1 seconds'
finish
