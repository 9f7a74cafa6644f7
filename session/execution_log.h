// What the kernels of a process executed, as a file: a line for each launch (option
// execution-log).
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "emulator/execution_counts.h"

namespace barracuda::session {

void append_execution_log(const std::string& path, const emulator::ExecutionCounts& counts);
// All its launches together. Errors: a line of another form.
Expected<emulator::ExecutionCounts> parse_execution_log(std::string_view text);

}  // namespace barracuda::session
