# Launches of a kernel that does the same each time are checked once and not logged again, and whatever differs is
# checked as ever.
. "$(dirname "$0")/expect.sh"

records() { sed -n 's/.* \([0-9]*\) records in .*/\1/p' "$folder/err"; }

with() {  # FILTER HOW
  run "$barracuda" run --device cpu --workers 1 --log session/info --filter "$1" -- "$programs/repeated_launches" "$2"
}

with off same
expect_status 0 "same, filter=off"
expect_out 'ok'
all=$(records)
for filter in auto on; do
  with $filter same
  expect_status 0 "same, filter=$filter"
  expect_err 'coverage complete'
  [ "$(records)" -le $((all / 8)) ] || fail "same, filter=$filter: $(records) records, of $all for eight launches"
done

for how in racing changed data beside; do
  with off $how
  expect_status 66 "$how, filter=off"
  expect_err 'repeated_launches.cu:[23][0-9]'
  expect_err 'coverage complete'
done
for filter in auto on; do
  for how in racing changed data; do
    with $filter $how
    expect_status 66 "$how, filter=$filter"
    expect_err 'repeated_launches.cu:[23][0-9]'
    expect_err 'coverage complete'
  done
done
for filter in on; do
  with $filter beside
  expect_status 0 "beside, filter=$filter"
  expect_err 'a copy, memset or free may write memory while launch 8 \(sum_tiles.*not checked \(filter=off checks it\)'
  expect_err 'coverage incomplete'
done
finish
