// What a stressing thread does, step by step. It touches its scratch memory and nothing else.
#pragma once

#include <cstdint>

#include "device_logger/stress_shape.h"

namespace barracuda::stress {

__device__ __forceinline__ std::uint32_t mix(std::uint32_t value) {
  value = (value ^ (value >> 16)) * 0x7feb352dU;
  value = (value ^ (value >> 15)) * 0x846ca68bU;
  return value ^ (value >> 16);
}

class Disturbance {
 public:
  // Of thread `thread` of `all` that stress at the same time. The patches are drawn for the seed.
  __device__ __forceinline__ Disturbance(const StressShape& shape, std::uint64_t scratch,
                                         std::uint32_t seed, std::uint32_t thread,
                                         std::uint32_t all)
      : shape_(shape),
        scratch_(reinterpret_cast<volatile std::uint32_t*>(scratch)),
        random_(mix(seed ^ mix(thread))),
        streamed_(thread),
        all_(all),
        patch_(mix(seed + thread % shape.spread) % (shape.words / shape.patch) * shape.patch) {}

  // Some steps, until it is time to look again whether to go on.
  __device__ __forceinline__ void run() {
    for (std::uint32_t step = 0; step < kStepsBetweenLooks; ++step) {
      random_ = mix(random_ + 0x9e3779b9U);
      if (shape_.kind == StressKind::kRandom) {
        access(scratch_ + (random_ & (shape_.words - 1)), (random_ >> 31) != 0);
      } else if (shape_.kind == StressKind::kCache) {
        volatile std::uint32_t* const at = scratch_ + (streamed_ & (shape_.words - 1));
        *at = *at + 1;
        streamed_ += all_;
      } else {
        for (std::uint32_t i = 0; i < shape_.length; ++i) {
          access(scratch_ + patch_, (shape_.stores >> i & 1) != 0);
        }
      }
    }
  }

 private:
  __device__ __forceinline__ void access(volatile std::uint32_t* at, bool is_store) const {
    if (is_store) {
      *at = random_;
    } else {
      (void)*at;
    }
  }

  const StressShape shape_;  // not where the launch has it: that may be memory of the host
  volatile std::uint32_t* scratch_;
  std::uint32_t random_, streamed_, all_, patch_;
};

}  // namespace barracuda::stress
