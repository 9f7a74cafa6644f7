// What the process as a whole has: its options, its session, and how it ends. The only global state
// of the library. Usable before constructors have run.
#pragma once

#include <optional>
#include <string>

#include "base/options.h"
#include "session/session.h"

namespace barracuda::preload {

// BARRACUDA_OPTIONS. A bad option ends the process with status 64 at the first call.
const Options& process_options();

// Made at the first call.
session::Session& process_session();
// Null if none was made.
session::Session* existing_session();

// After a failure of ours: hooks pass everything through.
bool tool_is_off();
// Switches the tool off; the process's status becomes 70.
void tool_failed(const std::string& what);

// The program has to do with CUDA.
void note_cuda_use();
// Exit status 67, with this sentence.
void block_process(const std::string& sentence);
// Registers the handler that drains everything while the driver still works.
void drain_at_exit();

void configure_emulated_device();

// Writes the report, once, and ends the process if its status has to change.
void finish_process();
// The report of a process that a signal ends.
void finish_killed_process(int signal);
// The report of a process that calls _exit, made in a thread of ours; the status that it has to
// leave with, if not its own.
std::optional<int> finish_at_exit_call();

}  // namespace barracuda::preload
