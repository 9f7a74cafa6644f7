# The first launch of a small program is checked against what comes beside it later, with the filter as without.
. "$(dirname "$0")/expect.sh"

for filter in off auto; do
  for how in host later; do
    run "$barracuda" run --device cpu --filter $filter -- "$programs/copied_too_early" $how
    expect_status 66 "$filter $how"
    expect_err 'copied_too_early.cu:7'
    expect_err 'SUMMARY: 1 race .*coverage complete'
  done
  run "$barracuda" run --device cpu --filter $filter -- "$programs/copied_too_early" waits
  expect_status 0 "$filter waits"
  expect_err 'SUMMARY: 0 races, .*coverage complete'
done
finish
