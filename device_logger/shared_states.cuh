// The device's end of shared_states.h. States lie in device memory and are read and changed where
// all threads see the same, in L2.
#pragma once

#include <cstdint>

#include "device_logger/block_events.h"
#include "device_logger/launch_descriptor.h"
#include "device_logger/logger_queue.cuh"
#include "device_logger/shared_states.h"
#include "device_logger/write_record.h"

namespace barracuda::wire {

class BlockStates {
 public:
  // Unless it `may_keep` them, none are kept.
  __device__ __forceinline__ explicit BlockStates(std::uint64_t descriptor, bool may_keep = true)
      : descriptor_(descriptor) {
    if (!may_keep) {
      return;
    }
    const uint4 words = load_constant(descriptor + offsetof(LaunchDescriptor, states));
    states_.address = join(words.x, words.y);
    states_.window = words.z;
    states_.first_site = words.w & (kMaxSites - 1);
    states_.granule_log2 = words.w >> kSiteBits;
    header_ = states_.address == 0 ? 0
                                   : states_.address + block_offset(linear_cta(), states_.window,
                                                                    states_.granule_log2);
  }

  [[nodiscard]] __device__ __forceinline__ bool are_kept() const { return header_ != 0; }

  [[nodiscard]] __device__ __forceinline__ std::uint32_t next(std::uint32_t interval) const {
    return next_interval(interval, load_word(header_));
  }

  // By one lane, before `lanes` of its warp leave: whoever passes a barrier that counts them as
  // arrived sees this.
  __device__ __forceinline__ void leave(std::uint32_t lanes, std::uint32_t interval) const {
    if ((interval & kFrozen) != 0) {
      return;
    }
    [[maybe_unused]] std::uint32_t before;
    asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(mask_of(linear_warp())), "r"(lanes)
                 : "memory");
    asm volatile("atom.relaxed.gpu.global.max.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(header_), "r"(kMostIntervals - interval)
                 : "memory");
    __threadfence();
  }

  // By one lane of the warp whose event it is, after the warp has converged: the last of the
  // block's threads logs it for all, if it must be. One addition each, where gather() has the warps
  // of a block try again and again.
  __device__ __forceinline__ void count(EventRecord event) const {
    const std::uint64_t place = header_ + kGatheredEvents;
    const std::uint32_t mine = static_cast<std::uint32_t>(__popc(event.mask));
    std::uint32_t before;
    // Acquire and release: the others' records are claimed before the block's, and told.
    asm volatile("atom.acq_rel.cta.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(place), "r"(mine)
                 : "memory");
    if (before + mine != blockDim.x * blockDim.y * blockDim.z) {
      return;
    }
    // Nobody counts or logs meanwhile: the others wait for this thread, or have left.
    const std::uint32_t logged = load_word(header_ + kLoggedOfBlock);
    event.kind = RecordKind::kBlockEvent;
    if ((event.site & kLeavesKernel) != 0) {
      const BlockEnd end = end_block(logged);
      event.threads = end.others;
      if (end.is_logged) {
        write_event(EventQueue(descriptor_), event);
      }
      return;
    }
    asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(place) : "memory");
    if ((logged & kLoggedSinceBarrier) != 0) {
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(header_ + kLoggedOfBlock),
                   "r"(kLoggedEver)
                   : "memory");
      write_event(EventQueue(descriptor_), event);
    }
  }

  // By one lane of the warp whose event it is: logged, or kept until the whole block has made it.
  __device__ __forceinline__ void gather(EventRecord event) const {
    const std::uint64_t place = header_ + kGatheredEvents;
    const std::uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
    const bool is_whole = event.mask == lanes_of_warp(event.warp, threads) && event.threads == 0;
    std::uint64_t bits;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(place) : "memory");
    for (;;) {
      const GatheredEvents gathered(bits);
      const GatherStep step = gathered.add({.site = event.site, .detail = event.detail}, event.warp,
                                           (threads + kWarpLanes - 1) / kWarpLanes, is_whole);
      // Acquire and release: the others' records are claimed before the block's.
      std::uint64_t met;
      asm volatile("atom.acq_rel.cta.global.cas.b64 %0, [%1], %2, %3;"
                   : "=l"(met)
                   : "l"(place), "l"(bits), "l"(step.next.bits())
                   : "memory");
      if (met == bits) {
        log_gathered(gathered, step, event, threads);
        return;
      }
      bits = met;
    }
  }

  // Whether the lanes' accesses are logged. What comes before them is logged here.
  __device__ __forceinline__ bool follow(const Lanes& lanes, std::uint32_t site,
                                         std::uint64_t address, std::uint32_t interval,
                                         const StoredValues<Lanes>& values) const {
    const bool has_state = this->has_state(site, address);
    const std::uint64_t offset = address_of(address);
    StateAccess access = state_access(states_, site, linear_thread());
    std::uint64_t value = 0;
    if (access.use == StateUse::kWrite) {
      // Two lanes of one instruction in one word: their record says what is to be said of them.
      const std::uint64_t word = has_state ? offset / bytes_at(site) : ~std::uint64_t{lanes.lane};
      if (__popc(Lanes::like(lanes.mask, word)) != 1) {
        access.use = StateUse::kLogged;
      }
      value = stored_value(values.low, values.high);
      access.value_mark = values.are_known && lanes.all_store_alike(values) ? value_mark(value) : 0;
    }
    const bool logs = !has_state || take_all(site, offset, interval, access, value);
    return lanes.those(logs) != 0;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ bool has_state(std::uint32_t site,
                                                          std::uint64_t address) const {
    return space_of(address) == AddressSpace::kShared &&
           address_of(address) + bytes_at(site) <= states_.window;
  }

  // Of all states of its bytes.
  __device__ __forceinline__ bool take_all(std::uint32_t site, std::uint64_t offset,
                                           std::uint32_t interval, const StateAccess& access,
                                           std::uint64_t value) const {
    const std::uint64_t granule = std::uint64_t{1} << states_.granule_log2;
    bool logs = false;
#pragma unroll 1
    for (std::uint64_t at = offset & ~(granule - 1); at < offset + bytes_at(site); at += granule) {
      logs = take(at, interval, access, value) || logs;
    }
    return logs;
  }

  __device__ __forceinline__ BlockEnd end_block(std::uint32_t logged) const {
    const std::uint64_t blocks = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
    std::uint64_t before;
    asm volatile(
        "atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
        : "=l"(before)
        : "l"(states_.address + block_offset(blocks, states_.window, states_.granule_log2)),
          "l"(EndedBlocks::step(logged))
        : "memory");
    return end_of_block({before}, logged, blocks);
  }

  __device__ __forceinline__ void log_gathered(GatheredEvents gathered, const GatherStep& step,
                                               EventRecord event, std::uint32_t threads) const {
    if (step.outcome == GatherStep::Outcome::kKept) {
      return;
    }
    const Queue queue(descriptor_);
    if (step.outcome == GatherStep::Outcome::kOfBlock) {
      event.kind = RecordKind::kBlockEvent;
    } else {
#pragma unroll 1
      for (; gathered.warps() != 0; gathered = gathered.without_first()) {
        const std::uint32_t warp = lowest_bit(gathered.warps());
        write_event(queue, {.site = gathered.event().site,
                            .warp = warp,
                            .mask = lanes_of_warp(warp, threads),
                            .detail = gathered.event().detail});
      }
    }
    write_event(queue, event);
  }

  [[nodiscard]] __device__ __forceinline__ static std::uint32_t load_word(std::uint64_t address) {
    std::uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
    return word;
  }

  [[nodiscard]] __device__ __forceinline__ std::uint64_t mask_of(std::uint32_t warp) const {
    return header_ + kLeftMasks + std::uint64_t{warp} * 4;
  }

  __device__ __forceinline__ bool take(std::uint64_t offset, std::uint32_t interval,
                                       const StateAccess& access, std::uint64_t value) const {
    const std::uint64_t place = header_ + state_offset(offset, states_.granule_log2);
    std::uint64_t bits;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(place) : "memory");
    for (;;) {
      const WordState state(bits);
      const StateStep step = step_of(state, interval, access);
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

  [[nodiscard]] __device__ __forceinline__ StateStep step_of(WordState state,
                                                             std::uint32_t interval,
                                                             const StateAccess& access) const {
    if ((interval & kFrozen) == 0) {
      return step(state, interval, access);
    }
    return frozen_step(state, interval, access, [&](std::uint32_t thread) {
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
        write_earlier(queue, states_.first_site + kept.site, kept.thread,
                      tagged_address(AddressSpace::kShared, begin_of(states_, kept, offset)),
                      which == 0 ? stored : UniformValue{});
      }
    }
  }

  std::uint64_t descriptor_, header_ = 0;
  SharedStates states_;
};

}  // namespace barracuda::wire
