// A random program of several blocks as its device would log it: each queue's records in slot order
// with the numbers that the protocol of device_logger/order_number.h gives them, and the order in
// which things happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host_detector/detector.h"
#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle {

struct QueuedRecord {
  std::vector<std::byte> bytes;
  std::uint64_t claimed = 0;  // when its slots were claimed
};

struct QueuedProgram {
  Trace trace;  // as it happened
  std::vector<std::vector<QueuedRecord>> queues;
  std::uint64_t operations = 0;  // records that the detector will apply
};

struct ProgramShape {
  std::uint32_t ctas = 3, warps = 2, queues = 2, launches = 1;
  bool clusters = false;
  std::vector<std::uint32_t> choices;
};

QueuedProgram run_program(const ProgramShape& shape);

}  // namespace barracuda::oracle
