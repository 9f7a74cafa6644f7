# What is missing is told alike whether the first access was logged when it was made, or later, when nobody knows when
# that was: tickets without fences, one of two, a lock that is not fenced.
. "$(dirname "$0")/expect.sh"

for filter in off auto; do
  run "$barracuda" run --device cpu --filter $filter -- "$programs/last_block_no_fence_race"
  expect_status 66 "filter=$filter"
  expect_err '__threadfence.. is missing in two places'
  run "$barracuda" run --device cpu --filter $filter -- "$programs/litmus_ticket_relaxed_race"
  expect_err '__threadfence.. is missing in two places'
  run "$barracuda" run --device cpu --filter $filter -- "$programs/litmus_lock_acquire_fence_only_race"
  expect_err 'published without a fence'
  run "$barracuda" run --device cpu --filter $filter -- "$programs/litmus_semaphore_after_release_race"
  ! grep -q 'published without a fence' "$folder/err" || fail "filter=$filter: it is, before the write"
done
finish
