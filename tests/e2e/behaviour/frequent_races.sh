# A race that was counted often enough costs nothing any more, the report says so, and other races are found all the
# same. Not with race-limit=0, with filter=off, or under a seed.
. "$(dirname "$0")/expect.sh"

records() { sed -n 's/.* \([0-9]*\) records in .*/\1/p' "$folder/err"; }

with() {  # OPTION...
  run "$barracuda" run --device cpu --workers 1 --log session/info "$@" -- "$programs/races_on" 200
  expect_status 66 "$*"
  expect_err 'races_on.cu:8'
  expect_err 'races_on.cu:13'
  expect_err 'SUMMARY: 2 races'
}

said='races were counted 1000 times and more: what their instructions did then was not logged.*race-limit=0 logs it'

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
[ "$(records)" -lt $((all / 2)) ] || fail "$(records) records, of $all"
finish
