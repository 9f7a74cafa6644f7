// What the orders of accesses and fences do.
#pragma once

#include "device_logger/site_info.h"

namespace barracuda::wire {

constexpr bool has_release(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcqRel ||
         order == MemoryOrder::kSeqCst;
}

constexpr bool has_acquire(MemoryOrder order) {
  return order == MemoryOrder::kAcquire || order == MemoryOrder::kAcqRel ||
         order == MemoryOrder::kSeqCst;
}

}  // namespace barracuda::wire
