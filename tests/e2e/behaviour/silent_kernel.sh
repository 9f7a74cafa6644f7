# What synchronises falls silent as well where it orders nobody behind another block, and nothing is reported then that
# it may have ordered.
. "$(dirname "$0")/expect.sh"

slots() { sed -n 's/.* records in \([0-9]*\) slots .*/\1/p' "$folder/err"; }

with() {  # OPTION...
  run "$barracuda" run --device cpu --workers 1 --log session/info "$@" -- "$programs/looks_back" 1500
  expect_status 66 "$*"
  expect_err 'looks_back.cu:14'
  expect_err 'looks_back.cu:19'
  expect_err 'SUMMARY: 1 race'
}

said='where they are volatile or relaxed, races of their kernel within a block'

with --filter auto --race-limit 0
expect_no_err "$said"
all=$(slots)
with --filter auto --race-limit 100
expect_err "$said"
[ "$(slots)" -lt $((all / 2)) ] || fail "$(slots) slots, of $all"
finish
