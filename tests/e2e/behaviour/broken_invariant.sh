# An assertion that fails in a guest process switches the tool off: the program goes on, and its
# status says so.
. "$(dirname "$0")/expect.sh"

offset_of() { nm "$library" | awk -v name="$1" '$3 == name { print $1 }'; }
session=$(offset_of _ZN9barracuda7preload15process_sessionEv)
find=$(offset_of _ZNK9barracuda7session14ModuleRegistry4findENS0_6HandleE)
program=$BUILD/bin/barracuda.test.broken_invariant

run "$barracuda" run --device cpu -- "$program" "$session" "$find"
expect_status 70 "an invariant of the tool is broken"
expect_out '^before 496$'
expect_out '^after 496$'
expect_out '^later 496$'
expect_err 'assertion failed: .*is_valid\(\) at session/launch_tracker.cpp:'
expect_no_err 'Aborted|Segmentation'

# The same without the runner.
run env LD_PRELOAD="$library" BARRACUDA_OPTIONS=device=cpu "$program" "$session" "$find"
expect_status 70 "the same in a process of its own"
expect_out '^later 496$'
finish
