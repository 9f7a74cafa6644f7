# A race that was counted often enough costs nothing any more, the report says so, and other races are found all the
# same. Not with race-limit=0, with filter=off, or under a seed.
. "$(dirname "$0")/expect.sh"

records() { sed -n 's/.* \([0-9]*\) records in .*/\1/p' "$folder/err"; }

with() {  # OPTION...
  run "$barracuda" run --device cpu --workers 1 --log session/info "$@" -- "$programs/races_on" 50
  expect_status 66 "$*"
  expect_err 'races_on.cu:8'
  expect_err 'races_on.cu:13'
  expect_err 'SUMMARY: 2 races'
}

said='a race was counted 1000 times and more: what its instructions did then was not logged.*race-limit=0 logs it'

with --filter auto --race-limit 0
expect_no_err "$said"
expect_err 'coverage complete'
all=$(records)
for options in '--filter off' '--filter auto --seed 1'; do
  with $options --race-limit 1000
  expect_no_err "$said"
  expect_err 'coverage complete'
done
with --filter auto --race-limit 1000
expect_err "$said"
expect_err 'coverage incomplete'
[ "$(records)" -lt $((all / 4)) ] || fail "$(records) records, of $all"
finish
