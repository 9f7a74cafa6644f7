# What synchronises falls silent as well where it orders nobody behind another block, and nothing is reported then that
# it may have ordered.
. "$(dirname "$0")/expect.sh"

records() { sed -n 's/.* \([0-9]*\) records in .*/\1/p' "$folder/err"; }

with() {  # OPTION...
  run "$barracuda" run --device cpu --workers 1 --log session/info "$@" -- "$programs/looks_back" 300
  expect_status 66 "$*"
  expect_err 'looks_back.cu:14'
  expect_err 'looks_back.cu:19'
  expect_err 'SUMMARY: 1 race'
}

said='where they are volatile or relaxed, races of their kernel within a block'

with --filter auto --race-limit 0
expect_no_err "$said"
all=$(records)
with --filter auto --race-limit 100
expect_err "$said"
[ "$(records)" -lt $((all / 2)) ] || fail "$(records) records, of $all"
finish
