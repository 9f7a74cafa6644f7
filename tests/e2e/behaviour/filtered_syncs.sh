# A barrier before which nothing was logged is not logged with the filter: a report must not say that the thread has
# not synchronised.
. "$(dirname "$0")/expect.sh"

for filter in off auto; do
  run "$barracuda" run --device cpu --filter $filter -- "$programs/unrolled_loads" race
  expect_status 66 "filter=$filter"
  expect_err 'unrolled_loads.cu:20'
  ! grep -q 'no synchronisation by this thread' "$folder/err" || fail "filter=$filter: all threads came to a barrier"
  [ $filter = auto ] || expect_err 'last synchronisation before it: bar.sync'
done
finish
