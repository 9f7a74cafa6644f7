// The thread of ours that reports. While the process runs it brings what is found to where it is
// safe, at once where it has time; it writes the last word of a process that ends past its exit
// handlers: by a signal, by _exit, by executing another program. It shares no lock with a hook that
// the hook holds while it waits.
//
// A signal that ends the process: its handler wakes the reporter and waits, but not for long, for
// the interrupted thread may hold what the reporter needs (malloc's lock, say). Then the thread
// goes on, up to its next call of CUDA or its end, and the reporter ends the process by that
// signal. A fault cannot go on: its handler waits longer, and then lets the fault do its work.
//
// It also ends a process of which only threads of ours are left (last_thread.h).
#pragma once

#include "session/session.h"

namespace barracuda::preload {

// Once, when there is something to report about.
void start_reporter();

// A block of this launch can never end. Called in a thread that must not wait.
void report_deadlock(detector::LaunchId launch);

// Something is found. Called in a thread that must not wait.
void report_news();

// The program calls _exit with this status: writes the report, if there is something to report
// about, and says which status to leave with.
int report_before_exit(int status);
// The program ends itself by SIGKILL, which nobody else hears of: writes the report. Returns where
// there is nothing to report about.
void report_before_kill();
// The program is about to execute another one in its place; and if that has failed.
void report_before_exec();
void report_after_failed_exec();

}  // namespace barracuda::preload
