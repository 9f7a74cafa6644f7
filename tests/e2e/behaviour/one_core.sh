# Where a process may run on one core alone, no library complains on the program's standard error.
. "$(dirname "$0")/expect.sh"

run taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$barracuda" run --device cpu -- "$programs/looks_back"
expect_status 66 'one core'
expect_no_err 'TBB'
finish
