// One call of the program that copies or sets memory, allocates or frees it in stream order, as the
// hooks understand it.
#pragma once

#include <cstdint>
#include <vector>

#include "host_detector/copy.h"
#include "session/device_driver.h"

namespace barracuda::session {

// What the host knows when the call returns (CUDA Driver API, "API synchronization behavior").
enum class HostOrder : std::uint8_t {
  kNothing,
  kWorkBefore,  // of the stream is over; the copy itself may not be
  kCopy,        // is over, and with it the work before it
};

// Each row is looked at: a copy of more is not checked.
inline constexpr std::uint64_t kMaximumCopyRows = std::uint64_t{1} << 20;

struct CopyRequest {
  detector::HostOperation operation = detector::HostOperation::kCopy;
  Handle stream{};  // 0 is the legacy default stream
  HostOrder host_order = HostOrder::kNothing;
  // Of memory that kernels can reach; arrays are not.
  std::vector<detector::MemoryRows> accesses;
};

}  // namespace barracuda::session
