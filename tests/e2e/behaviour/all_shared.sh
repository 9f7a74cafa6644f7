# A launch that takes all the shared memory of a block leaves none for the tool: the program's own kernel runs, finds
# the variables of its module, and is named as not checked. Others of the kernel are checked.
. "$(dirname "$0")/expect.sh"

for split in 8 0; do
  run "$barracuda" run --device cpu --split-modules $split -- "$programs/all_shared" all
  expect_status 66 "all of it, split-modules=$split"
  expect_out '^3 blocks$'
  expect_err 'race on shared memory'
  expect_err 'not covered: .*exchange.*all the shared memory that a block can have, of which the tool needs some'
  expect_err 'coverage incomplete'
done
run "$barracuda" run --device cpu -- "$programs/all_shared" 100000
expect_status 66 "less than all of it"
expect_out '^3 blocks$'
expect_err 'SUMMARY: 1 race .*coverage complete'
finish
