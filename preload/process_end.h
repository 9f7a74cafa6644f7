// How a process's report is made: while it runs, and at whichever end it comes to. One report a
// process; the calls may come from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace barracuda::preload {

// The process has begun to use CUDA.
void announce_process();

// Before the library's destructor, at exit: the status that the program leaves with.
void note_exit_status(int status);

// Writes the report, once, and ends the process if its status has to change. If another thread is
// reporting because the process is being killed, waits for that.
void finish_process();
// The report of a process that a signal ends; the status that it has to leave with, if it is not
// to die by the signal. `reason`, a sentence, is a gap in its coverage; of an idle worker that its
// pool ends, all was checked.
enum class GapIs : std::uint8_t { kWhatIsUnderWay, kAlways };
std::optional<int> finish_killed_process(int signal, const std::string& reason, GapIs gap);
// The report of a process that calls _exit, made in a thread of ours; the status that it has to
// leave with, if not its own.
std::optional<int> finish_at_exit_call(int status);
// The report of a process that is about to execute another program; and if that has failed.
void finish_before_exec();
void exec_failed();
// The device will not come to rest: reports, and leaves at once, for neither the driver's exit
// handlers nor ours may run.
[[noreturn]] void finish_without_device();

// What was found so far goes where it is safe. True if the process is to end now, for the option
// halt-on-error.
bool update_report();
// Nobody would read what update_report() writes.
bool updates_are_wanted();

// In a forked child: the parent's report is the parent's.
void forget_report_after_fork();

// Does not return while the process is being ended by a signal: what begins now would come to
// nothing.
void wait_if_dying();

// Past every exit handler. The second leaves what the program has printed where it is, as a signal
// does: a thread that was interrupted may hold its streams.
[[noreturn]] void leave(int status);
[[noreturn]] void leave_at_once(int status);

}  // namespace barracuda::preload
