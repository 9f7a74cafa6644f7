// What the process as a whole has: its options and its session. Usable before constructors have
// run.
#pragma once

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
void switch_tool_off() noexcept;

// The program has to do with CUDA.
void note_cuda_use();
// Exit status 67, with this sentence.
void block_process(const std::string& sentence);
// Registers the handler that drains everything while the driver still works.
void drain_at_exit();

void configure_emulated_device();

// While the driver still works: all that was launched is checked, what is launched later is not.
void close_session();
// What the process as a whole has to say in its report.
void add_process_data(report::RunData& run);

}  // namespace barracuda::preload
