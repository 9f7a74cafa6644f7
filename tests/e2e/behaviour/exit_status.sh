# Which exit status a user gets, and that nothing passes silently.
. "$(dirname "$0")/expect.sh"

run "$barracuda" run --device cpu -- "$programs/shared_sum_fixed"
expect_status 0 "no findings"
expect_err 'BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete'

run "$barracuda" run --device cpu -- "$programs/shared_sum_race"
expect_status 66 "findings"
expect_err 'BARRACUDA SUMMARY: [1-9][0-9]* races? '

run "$barracuda" run --device cpu --error-exitcode 3 -- "$programs/shared_sum_race"
expect_status 3 "error-exitcode"

run "$barracuda" run --device cpu --error-exitcode 0 -- "$programs/shared_sum_race"
expect_status 0 "error-exitcode 0 keeps the program's own"

run "$barracuda" run --device cpu -- sh -c 'exit 5'
expect_status 5 "no kernel in the whole tree, of a program that failed"
expect_err 'BARRACUDA SUMMARY: no kernel was launched'

run "$barracuda" run --device cpu -- true
expect_status 67 "no kernel in the whole tree"
expect_err 'BARRACUDA SUMMARY: no kernel was launched'

run "$barracuda" run --device cpu -- sh -c "$programs/shared_sum_fixed; exit 5"
expect_status 5 "the program's own status"

run "$barracuda" run --device cpu -- sh -c "$programs/shared_sum_race; exit 5"
expect_status 66 "a child's findings"

run "$barracuda" run --no-such-option 1 -- true
expect_status 64 "unknown option"
expect_err 'no-such-option'

run "$barracuda" run --device nowhere -- true
expect_status 64 "impossible value"
expect_err 'nowhere'

run "$barracuda" run --device cpu -- "$folder/does-not-exist"
expect_status 127 "no such program"

run env BARRACUDA_OPTIONS=nonsense=1 LD_PRELOAD="$library" "$programs/vector_add"
expect_status 64 "unknown option under bare LD_PRELOAD"
expect_err 'nonsense'
finish
