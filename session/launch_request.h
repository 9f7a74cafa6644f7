// A launch call as the program made it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host_detector/launch.h"
#include "session/device_driver.h"

namespace barracuda::session {

struct LaunchRequest {
  Handle function{};
  detector::Dim3 grid, block;
  std::optional<detector::Dim3> cluster;  // as given at the launch
  Handle stream{};                        // 0 is the legacy default stream
  bool is_programmatic = false;           // may begin before the kernel before it is over
  bool is_cooperative = false;            // all blocks run at once
  std::uint32_t shared_bytes = 0;         // dynamic shared memory of a block
  std::uint32_t most_shared_bytes = 0;    // that the function is set up for; 0: not known
  bool has_guarded_form = false;          // ptx::Kernel::guarded, ready to be launched instead
  bool has_plain_form = false;            // ptx::Kernel::plain, the same
  bool is_uninstrumented = false;         // launched as the program has it: the tool has no room
  Handle event{};                         // that the launch records, if there is one
  std::vector<MemoryRange> constants;     // that the kernel may read
  std::vector<MemoryRange> variables;     // in global memory, that it may access
};

}  // namespace barracuda::session
