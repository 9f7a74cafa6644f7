// What hooks make of accesses to memory: left out, kept in states, or logged.
#pragma once

#include <cstdint>

#include "device_logger/logger_queue.cuh"
#include "device_logger/record.h"
#include "device_logger/shared_states.cuh"
#include "device_logger/site_word.h"
#include "device_logger/unlogged_memory.h"
#include "device_logger/word_owners.cuh"

namespace barracuda::wire {

__device__ __forceinline__ bool is_global(std::uint64_t address) {
  return space_of(address) == AddressSpace::kGlobal;
}

// What is left out in memory that the launch does not write, or that its threads own, is not
// logged. What should not be there is told: by one store, of the same word whoever makes it.
__device__ __forceinline__ JudgedAccess judge_access(std::uint64_t descriptor, std::uint32_t site,
                                                     std::uint64_t address, AccessUse use) {
  const std::uint64_t unlogged = descriptor + offsetof(LaunchDescriptor, unlogged);
  const std::uint64_t sites = descriptor + offsetof(LaunchDescriptor, owned_sites);
  const auto range_at = [&](std::uint32_t i) {
    const uint4 words = load_constant(unlogged + offsetof(UnloggedMemory, ranges) +
                                      i * std::uint64_t{sizeof(UnloggedRange)});
    return UnloggedRange{join(words.x, words.y), join(words.z, words.w)};
  };
  const auto is_owner_of = [&](std::uint32_t range) {
    const auto ranges_at = [&](std::uint32_t i) {
      return load_constant_half(sites + offsetof(OwnedSites, ranges) + std::uint64_t{2} * i);
    };
    return is_owner(ranges_at, load_constant_word(sites + offsetof(OwnedSites, first)), site,
                    range);
  };
  const auto counts =
      UnloggedCounts::of(load_constant_word(unlogged + offsetof(UnloggedMemory, count)));
  const JudgedAccess judged =
      judge_unlogged(range_at, is_owner_of, counts, bytes_at(site), address, use);
  if (judged.decision == LogDecision::kWrites) {
    asm volatile(
        "st.relaxed.sys.global.u32 [%0], 1;" ::"l"(unlogged + offsetof(UnloggedMemory, written))
        : "memory");
    __threadfence_system();  // before this thread's last record, which may end the launch
  }
  return judged;
}

// A lane must not claim again before its record here is claimed, so all leave together.
__device__ __forceinline__ void log_access(std::uint32_t site, std::uint64_t address,
                                           const StoredValues<Lanes>& values) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0 || address == kNoAddress) {
    return;
  }
  if (is_global(address) &&
      judge_access(descriptor, site, address, access_use(site)).decision == LogDecision::kLeftOut) {
    return;
  }
  const Lanes lanes = Lanes::at_site(site);
  if (lanes.those(is_quiet(descriptor, site)) != 0) {  // all or none, though the host may change it
    return;
  }
  write_access(Log{descriptor}, lanes, site, address, values);
  lanes.converge();
}

// All lanes or none, so that none of a warp stay apart behind it.
__device__ __forceinline__ bool leaves_out(std::uint32_t site, std::uint64_t address) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return true;
  }
  const bool is_left_out =
      address == kNoAddress ||
      (is_global(address) &&
       judge_access(descriptor, site, address, access_use(site)).decision == LogDecision::kLeftOut);
  return Lanes::at_site(site).those(!is_left_out) == 0;
}

template <StateUse kUse>
__device__ __forceinline__ bool keep_access(std::uint32_t site, std::uint64_t address,
                                            std::uint32_t interval,
                                            const StoredValue& stored = {}) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  const BlockStates states(descriptor);
  if (address == kNoAddress || !states.are_kept()) {
    return address == kNoAddress || descriptor == 0;
  }
  return states.keep<kUse>(site, address, interval, stored);
}

// All lanes or none, as of leaves_out: whether their accesses are left out, or become part of the
// states of what is watched.
__device__ __forceinline__ bool owns_access(std::uint32_t site, std::uint64_t address,
                                            std::uint32_t interval, StoredValue stored = {}) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return true;
  }
  const JudgedAccess judged = address == kNoAddress || !is_global(address)
                                  ? JudgedAccess{}
                                  : judge_access(descriptor, site, address, access_use(site));
  bool is_left_out = address == kNoAddress || judged.decision == LogDecision::kLeftOut;
  const Lanes lanes = Lanes::at_site(site);
  const std::uint32_t rest = lanes.those(!is_left_out);
  if (rest == 0) {
    return true;
  }
  const bool is_watched = judged.decision == LogDecision::kWatched;
  if (lanes.those(is_watched) != rest) {
    return false;
  }
  const BlockStates states(descriptor);
  const bool are_alone =
      !stored.is_known ||
      are_distinct(lanes, static_cast<std::uint32_t>(address >> size_log2_at(site)));
  const std::uint32_t mark = mark_of(lanes, site, stored);
  if (is_watched && are_alone) {
    const WordOwners owners(descriptor, states);
    is_left_out =
        owners.keep(judged.offset, bytes_at(site), owners.access(site, address, interval, mark));
  }
  return lanes.those(!is_left_out) == 0;
}

// Whether this lane's access has to be logged. What comes before it is logged here. Of an access
// that becomes part of a block's state there is no record as well: what is logged of the state
// later was before it, and would come behind it.
//
// Each kind of memory has its function: two thirds of this code are for shared memory, which many
// modules do not have, and most of a small module's first run is its compilation.
template <class Follow>
__device__ __forceinline__ bool follow_access(std::uint32_t site, std::uint64_t address,
                                              std::uint32_t interval, const StoredValue& stored,
                                              const Follow& follow) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  const BlockStates states(descriptor);
  const Lanes lanes = Lanes::at_site(site);
  bool is_alone = true;
  std::uint32_t mark = 0;
  if (state_use(site) == StateUse::kWrite) {
    is_alone = __popc(Lanes::like(lanes.mask, address >> size_log2_at(site))) == 1;
    mark = mark_of(lanes, site, stored);
  }
  const bool logs = follow(states, is_alone, mark);
  if (lanes.those(logs) == 0 || lanes.those(is_quiet(descriptor, site)) != 0) {
    return false;
  }
  states.tell_own_barriers(lanes, interval);
  return logs;
}

__device__ __forceinline__ bool follow_states(std::uint32_t site, std::uint64_t address,
                                              std::uint32_t interval, const StoredValue& stored) {
  const auto follow = [&](const BlockStates& states, bool is_alone, std::uint32_t mark) {
    return !states.are_kept() ||
           states.follow(site, address, interval, is_alone, mark, stored.value);
  };
  return follow_access(site, address, interval, stored, follow);
}

// The address is_global().
__device__ __forceinline__ bool follow_owners(std::uint32_t site, std::uint64_t address,
                                              std::uint32_t interval, const StoredValue& stored) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  const JudgedAccess judged = judge_access(descriptor, site, address, access_use(site));
  const auto follow = [&](const BlockStates& states, bool is_alone, std::uint32_t mark) {
    if (judged.decision != LogDecision::kWatched) {
      return judged.decision != LogDecision::kLeftOut;
    }
    const WordOwners owners(descriptor, states);
    OwnerAccess access = owners.access(site, address, interval, mark);
    access.use = is_alone ? access.use : StateUse::kLogged;
    return owners.follow(judged.offset, bytes_at(site), address, access, stored.value,
                         (interval & kFrozen) != 0);
  };
  return follow_access(site, address, interval, stored, follow);
}

}  // namespace barracuda::wire
