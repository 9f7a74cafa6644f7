// A trace as a device would log it that keeps states of words of shared memory
// (device_logger/shared_states.h), and of global memory (device_logger/word_owners.h).
#pragma once

#include <cstdint>

#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle {

// With kGlobal nothing else may run beside a launch.
enum class Watch : std::uint8_t { kShared, kGlobal };

// Of a trace without clusters and without copies.
Trace filtered(const Trace& trace, Watch watch = Watch::kShared);

}  // namespace barracuda::oracle
