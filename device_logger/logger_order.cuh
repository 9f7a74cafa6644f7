// How strong loads, stores and atomics are logged: with numbers that say in which order those of
// one location were made (order_number.h). A release takes its number before the access, an acquire
// behind it.
#pragma once

#include <cstdint>

#include "device_logger/logger_access.cuh"
#include "device_logger/logger_queue.cuh"
#include "device_logger/record.h"

namespace barracuda::wire {

// What a release takes before its access and needs again after it.
struct ReleaseToken {
  std::uint64_t slot;     // of this lane's entry; kNoSlot if it does not log
  std::uint64_t address;  // tagged
  std::uint64_t number;
};

__device__ __forceinline__ std::uint64_t claim_release(const Queue& queue, const Lanes& active,
                                                       std::uint32_t site) {
  // The header must come last where it is the flag, and no lane waits for another between claim and
  // write, so there every lane has a record of its own.
  const Lanes lanes(queue.fence_and_flag() ? 1U << active.lane : active.mask);
  std::uint64_t slot = 0;
  if (lanes.leads()) {
    slot = queue.claim_and_acquire(record_slots(RecordKind::kRelease, lanes.count()));
    if (!queue.fence_and_flag()) {
      write_entry_header(queue, slot, site, RecordKind::kRelease, lanes.mask);
    }
  }
  slot = active.value_at(slot, lanes.leader);
  active.converge();
  return slot + 1 + 2 * lanes.rank();
}

__device__ __forceinline__ ReleaseToken begin_release(std::uint32_t site, std::uint64_t address) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  ReleaseToken token;
  token.slot = kNoSlot;
  token.address = address;
  token.number = 0;
  if (descriptor != 0 && address != kNoAddress) {
    judge_access(descriptor, site, address, AccessUse::kWrite);
    const Lanes lanes = Lanes::at_site(site);
    if (lanes.those(is_quiet(descriptor, site)) != 0) {
      return token;
    }
    const Queue queue(descriptor);
    token.slot = claim_release(queue, lanes, site);
    if (is_global(address)) {
      std::uint32_t number;
      asm volatile("atom.global.add.u32 %0, [%1], 1;"
                   : "=r"(number)
                   : "l"(queue.order_counter(address))
                   : "memory");
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      token.number = number;
    }
  }
  return token;
}

__device__ __forceinline__ void log_acquire(std::uint32_t site, std::uint64_t address,
                                            std::uint64_t value, std::uint32_t flags) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0 || address == kNoAddress) {
    return;
  }
  if (is_global(address)) {
    judge_access(descriptor, site, address, AccessUse::kStrongRead);
  }
  const Lanes lanes = Lanes::at_site(site);
  if (lanes.those(is_quiet(descriptor, site)) != 0) {
    return;
  }
  const Queue queue(descriptor);
  std::uint32_t stamp = 0;
  if (is_global(address)) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    // Acquire: the claim below comes after the stamp.
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(stamp)
                 : "l"(queue.order_counter(address))
                 : "memory");
  } else {
    asm volatile("fence.acq_rel.cta;" ::: "memory");
  }
  lanes.converge();
  write_acquire(queue, lanes, site, address, value, flags, stamp);
  lanes.converge();
}

}  // namespace barracuda::wire
