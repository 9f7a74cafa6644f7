// The device's end of shared_states.h. States lie in device memory and are read and changed where
// all threads see the same, in L2.
#pragma once

#include <cstdint>

#include "device_logger/launch_descriptor.h"
#include "device_logger/logger_queue.cuh"
#include "device_logger/shared_states.h"
#include "device_logger/write_record.h"

namespace barracuda::wire {

class BlockStates {
 public:
  __device__ __forceinline__ explicit BlockStates(std::uint64_t descriptor)
      : descriptor_(descriptor) {
    const uint4 words = load_constant(descriptor + offsetof(LaunchDescriptor, states));
    const std::uint64_t first = join(words.x, words.y);
    window_ = words.z;
    first_site_ = words.w;
    header_ = first == 0 ? 0 : first + linear_cta() * states_bytes(window_);
  }

  [[nodiscard]] __device__ __forceinline__ bool are_kept() const { return header_ != 0; }

  [[nodiscard]] __device__ __forceinline__ std::uint32_t next(std::uint32_t epoch) const {
    return next_epoch(epoch, load_word(header_));
  }

  // Before the lane leaves: whoever passes a barrier that counts it as arrived sees this.
  __device__ __forceinline__ void leave(std::uint32_t epoch) const {
    if ((epoch & kFrozen) != 0) {
      return;
    }
    [[maybe_unused]] std::uint32_t before;
    asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(mask_of(linear_warp())), "r"(1U << lane_id())
                 : "memory");
    asm volatile("atom.relaxed.gpu.global.max.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(header_), "r"(kMostEpochs - epoch)
                 : "memory");
    __threadfence();
  }

  // Whether the lanes' accesses are logged. What comes before them is logged here.
  __device__ __forceinline__ bool follow(const Lanes& lanes, std::uint32_t site,
                                         std::uint64_t address, std::uint32_t epoch,
                                         const StoredValues<Lanes>& values) const {
    const std::uint32_t bytes = bytes_at(site);
    const std::uint64_t offset = address_of(address);
    const bool has_state = space_of(address) == AddressSpace::kShared && offset + bytes <= window_;
    const bool is_plain = bytes >= 4 && (site & kAlwaysLogged) == 0;
    const bool is_write = is_plain && (site & kPlainWrite) != 0;
    StateAccess access{.by = {.thread = linear_thread(),
                              .site = (site & (kMaxSites - 1)) - first_site_,
                              .size_log2 = site >> kSizeShift & ((1U << kSizeBits) - 1)},
                       .is_read = is_plain && (site & kPlainRead) != 0,
                       .is_write = is_write};
    std::uint64_t value = 0;
    if (is_write) {
      // Two lanes of one instruction in one word: their record says what is to be said of them.
      const std::uint64_t word = has_state ? offset / bytes : ~std::uint64_t{lanes.lane};
      access.is_write = __popc(__match_any_sync(lanes.mask, word)) == 1;
      value = stored_value(values.low, values.high);
      access.value_mark = values.are_known && lanes.all_store_alike(values) ? value_mark(value) : 0;
    }
    bool logs = !has_state;
    for (std::uint64_t at = offset & ~std::uint64_t{3}; has_state && at < offset + bytes; at += 4) {
      logs = take(at, epoch, access, value) || logs;
    }
    return __any_sync(lanes.mask, logs) != 0;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ static std::uint32_t linear_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }

  [[nodiscard]] __device__ __forceinline__ static std::uint32_t load_word(std::uint64_t address) {
    std::uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
    return word;
  }

  [[nodiscard]] __device__ __forceinline__ std::uint64_t mask_of(std::uint32_t warp) const {
    return header_ + kLeftMasks + std::uint64_t{warp} * 4;
  }

  __device__ __forceinline__ bool take(std::uint64_t offset, std::uint32_t epoch,
                                       const StateAccess& access, std::uint64_t value) const {
    const std::uint64_t place = header_ + kStatesHeader + offset * 2;
    std::uint64_t bits;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(place) : "memory");
    for (;;) {
      const WordState state(bits);
      const StateStep step = step_of(state, epoch, access);
      std::uint64_t met = bits;
      if (step.next.bits() != bits) {
        asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                     : "=l"(met)
                     : "l"(place), "l"(bits), "l"(step.next.bits())
                     : "memory");
      }
      if (met == bits) {
        log_kept(state, step, offset, value);
        return step.logs;
      }
      bits = met;
    }
  }

  [[nodiscard]] __device__ __forceinline__ StateStep step_of(WordState state, std::uint32_t epoch,
                                                             const StateAccess& access) const {
    if ((epoch & kFrozen) == 0) {
      return step(state, epoch, access);
    }
    return frozen_step(state, epoch, access, [&](std::uint32_t thread) {
      return (load_word(mask_of(thread / kWarpLanes)) >> thread % kWarpLanes & 1) != 0;
    });
  }

  __device__ __forceinline__ void log_kept(WordState state, const StateStep& step,
                                           std::uint64_t offset, std::uint64_t value) const {
    if (step.kept == 0) {
      return;
    }
    const Queue queue(descriptor_);
    const UniformValue stored{step.has_same_value ? value : 0, step.has_same_value};
#pragma unroll 1
    for (std::uint32_t which = 0; which < 2; ++which) {
      const KeptAccess kept = which == 0 ? state.first() : state.second();
      if ((step.kept >> which & 1) != 0) {
        const std::uint64_t begin = offset >> kept.size_log2 << kept.size_log2;
        write_earlier(queue, first_site_ + kept.site, kept.thread,
                      tagged_address(AddressSpace::kShared, begin),
                      which == 0 ? stored : UniformValue{});
      }
    }
  }

  std::uint64_t descriptor_, header_ = 0;
  std::uint32_t window_ = 0, first_site_ = 0;
};

}  // namespace barracuda::wire
