// Ends that skip the process's exit handlers, a fatal signal or _exit, still report what was found:
// a thread of ours, woken from wherever the program is, writes the report. A signal's handler
// chains to what the program had.
#pragma once

namespace barracuda::preload {

// Once, when there is something to report about.
void watch_abrupt_ends();

// The program calls _exit with this status: writes the report, if there is something to report
// about, and says which status to leave with.
int report_before_exit(int status);

}  // namespace barracuda::preload
