// `barracuda explore` of a kernel: the flags, and the kernel as the explorer takes it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "weak_memory/litmus.h"

namespace barracuda::cli {

struct ExploredKernel {
  std::string kernel;  // empty: the only one in the file
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0;      // dynamic
  std::vector<std::string> arguments;  // as parse_kernel_argument() takes them
  std::vector<std::string> threads;    // "BLOCK:THREAD", linear numbers; none: all
  std::string exists;                  // a condition on memory; empty: data races are looked for
  bool shows_all = false;              // all that memory may hold at the end
  bool races = false;                  // data races besides the condition
};

// The first flag of these that was given, but --races, which litmus tests have too; empty: none.
std::string first_kernel_flag(const ExploredKernel& command);

// Errors have the file, and the line where there is one. `options.stops` is also asked while a
// compiler runs.
Expected<memory_model::KernelReading> read_explored_kernel(
    const std::string& file, const ExploredKernel& command,
    const memory_model::ExploreOptions& options);

}  // namespace barracuda::cli
