// Which of an entry's arguments the global memory that it may write is reached by: every store,
// atomic and reduction of it and of what it calls is followed back, by address arithmetic alone, to
// words of its parameters, or is_known is false. A launch may then know what it does not write
// (docs/decisions/device-filter.md). That no arithmetic leaves the memory that it began in is not
// shown here: the logger looks at each write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

// `entry`: its index into Module::functions. After classify_statements and call_graph.
[[nodiscard]] GlobalWrites find_global_writes(const Program& program, std::uint32_t entry);

// An instruction that may access global memory, by reads as well, and what leads there.
struct FoundAccess {
  std::uint32_t function = 0;  // index into Module::functions
  std::size_t statement = 0;
  GlobalWrites leads;
};

// Of the entry and of what it calls. What is not logged at all, as textures, is not among them.
[[nodiscard]] std::vector<FoundAccess> find_global_accesses(const Program& program,
                                                            std::uint32_t entry);

}  // namespace barracuda::ptx
