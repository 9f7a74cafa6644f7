// What the kernels of a process cost, as a file (option execution-log): on the emulated device what
// they executed, a line for each launch; on a GPU their time and energy, all together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "emulator/execution_counts.h"

namespace barracuda::session {

struct KernelTime {
  std::uint64_t launches = 0;     // that were timed
  std::uint64_t nanoseconds = 0;  // that they took together
  // Of the whole device, from the first launch to the end of the last; none: not measured, and why.
  std::optional<std::uint64_t> millijoules;
  std::string no_energy;

  friend bool operator==(const KernelTime&, const KernelTime&) = default;
};

struct ExecutionLog {
  emulator::ExecutionCounts counts;
  KernelTime time;

  friend bool operator==(const ExecutionLog&, const ExecutionLog&) = default;
};

void append_execution_log(const std::string& path, const emulator::ExecutionCounts& counts);
void append_execution_log(const std::string& path, const KernelTime& time);
// All its launches together. Errors: a line of another form.
Expected<ExecutionLog> parse_execution_log(std::string_view text);

}  // namespace barracuda::session
