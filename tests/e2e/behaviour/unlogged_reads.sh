# Reads of memory that a launch does not write stay unlogged, and writes of memory of which each thread has its own
# part, and nothing is found or left out because of that
# without a word: what contradicts it is a race with filter=off, and named as not checked without.
. "$(dirname "$0")/expect.sh"

records() { sed -n 's/.* \([0-9]*\) records in .*/\1/p' "$folder/err"; }

with() {  # FILTER HOW [meet | again]
  run "$barracuda" run --device cpu --workers 1 --log session/info --filter "$1" -- "$programs/unlogged_reads" "$2" ${3:-}
}

for how in read waited; do
  with off $how meet
  expect_status 0 "$how, filter=off"
  all=$(records)
  for filter in on; do
    with $filter $how meet
    expect_status 0 "$how, filter=$filter"
    expect_err 'coverage complete'
    [ "$(records)" -le $((all - 16)) ] || fail "$how, filter=$filter: $(records) records, of $all; 8 warps read and write"
    with $filter $how
    expect_status 0 "$how, guarded, filter=$filter"
    expect_err 'coverage complete'
    [ -z "$(records)" ] || fail "$how, filter=$filter: $(records) records of a guarded form"
  done
done

# So are launches with filter=auto that are as brief as these.
for filter in off auto; do
  for how in late outside in-place stray beside; do
    with $filter $how
    expect_status 66 "$how, filter=$filter"
    expect_err 'unlogged_reads.cu:2[0-9]'
    expect_err 'coverage complete'
  done
done
for filter in on; do
  with $filter in-place
  expect_status 66 "in place, filter=$filter"
  expect_err 'coverage complete'
  with $filter late
  expect_status 0 "late, filter=$filter"
  expect_err 'a copy, memset or free may write memory while launch 1 \(.*shift.*reads it: not checked \(filter=off checks it\)'
  expect_err 'coverage incomplete'
  for how in outside stray; do
    with $filter $how
    expect_status 0 "$how, guarded, filter=$filter"
    expect_err 'launch 1 \(.*shift.*accessed memory that none of its arguments leads to: not checked \(filter=off checks it\)'
    expect_err 'coverage incomplete'
  done
  with $filter stray again
  expect_status 0 "stray, twice, filter=$filter: the second is logged, and one thread's memory is not one thread's"
  expect_err 'launch 2 \(.*shift.*accessed what was taken to be one thread.s alone.*filter=off checks it'
  with $filter outside meet
  expect_status 0 "outside, filter=$filter"
  expect_err 'launch 1 \(.*shift.*wrote memory that none of its pointers to write leads to.*filter=off checks it'
  expect_err 'coverage incomplete'
  with $filter stray meet
  expect_status 0 "stray, filter=$filter"
  expect_err 'launch 1 \(.*shift.*accessed what was taken to be one thread.s alone.*filter=off checks it'
  expect_err 'coverage incomplete'
  with $filter beside
  expect_status 0 "beside, filter=$filter"
  expect_err 'a copy, memset or free may access memory while launch 1 \(.*shift.*not checked \(filter=off checks it\)'
  expect_err 'coverage incomplete'
done
run "$barracuda" run --device cpu --strict --filter on -- "$programs/unlogged_reads" late
expect_status 67 "what was not checked, strictly"

# A recording is of everything.
for filter in auto off; do
  run "$barracuda" run --device cpu --workers 1 --log session/info --filter $filter --record "$folder/trace" -- "$programs/unlogged_reads" late
  expect_status 66 "recorded, filter=$filter"
done
run "$barracuda" replay "$folder/trace"
expect_status 66 "the replay"

run "$barracuda" run --device cpu --filter some -- "$programs/unlogged_reads"
expect_status 64 "a filter that there is not"
finish
