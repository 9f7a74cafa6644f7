# Streams that work beside each other on parts of one array need no records after a while; what contradicts that is
# found where it is there from the start, and else said once, and found when it comes again.
. "$(dirname "$0")/expect.sh"

records() { sed -n 's/.* \([0-9]*\) records in .*/\1/p' "$folder/err" | grep . || echo 0; }

with() {  # FILTER HOW
  run "$barracuda" run --device cpu --workers 1 --log session/info --filter "$1" -- "$programs/stream_parts" "$2"
}

with off parts
expect_status 0 "parts, filter=off"
all=$(records)
for filter in auto on; do
  with $filter parts
  expect_status 0 "parts, filter=$filter"
  expect_err 'coverage complete'
  [ "$(records)" -le $((all / 2)) ] || fail "parts, filter=$filter: $(records) records, of $all"
done
[ "$(records)" -eq 0 ] || fail "parts, filter=on: $(records) records, of launches in guarded form"

for filter in off auto; do
  with $filter overlap
  expect_status 66 "overlap, filter=$filter"
  expect_err 'stream_parts.cu:1[0-9]'
  expect_err 'coverage complete'
done

with off last
expect_status 66 "last, filter=off"
expect_err 'coverage complete'
with auto last
expect_status 66 "last, filter=auto: it is found when it comes again"
expect_err 'may write memory while launch [0-9]+ \(change.*not checked \(filter=off checks it\)|may access memory while launch [0-9]+ \(change.*not checked \(filter=off checks it\)'
expect_err 'coverage incomplete'
finish
