// The functions that instrumented code calls. Compiled to PTX when the tool is built and linked
// into every instrumented module (logger_image.h). Parameters are packed because every call site
// pays for them: `site` is a word of site_word.h. Addresses are tagged (record.h), but for the
// hooks named _generic.
//
// Lanes that arrive together from one site are logged together: nothing is assumed about how the
// program converged, nor about what the hardware runs together.
#include <cstdint>

#include "device_logger/logger_address.cuh"
#include "device_logger/logger_queue.cuh"
#include "device_logger/record.h"
#include "device_logger/site_word.h"

namespace barracuda::wire {

// The value that a store writes, up to 16 bytes.
struct StoredValue {
  std::uint64_t low = 0, high = 0;
  bool known = false;
};

// What all lanes store, if that is one value.
struct UniformValue {
  std::uint64_t value = 0;  // stored_value
  bool known = false;

  __device__ __forceinline__ std::uint32_t flag() const { return known ? kUniformValue : 0; }
};

struct Agreement {
  bool all = false;       // every lane stores the same value
  bool overlaps = false;  // this lane and those at its address store the same value
};

__device__ __forceinline__ bool same_value(const Lanes& lanes, const StoredValue& value,
                                           std::uint32_t other, bool wide) {
  const std::uint64_t low = __shfl_sync(lanes.mask, value.low, static_cast<int>(other));
  bool same = low == value.low;
  if (wide) {
    same = __shfl_sync(lanes.mask, value.high, static_cast<int>(other)) == value.high && same;
  }
  return same;
}

__device__ __forceinline__ Agreement find_agreement(std::uint64_t address, const Lanes& lanes,
                                                    const StoredValue& value,
                                                    const Pattern& pattern, bool wide) {
  Agreement agreement;
  if (!value.known) {
    return agreement;
  }
  agreement.all = __all_sync(lanes.mask, same_value(lanes, value, lanes.leader, wide)) != 0;
  agreement.overlaps = agreement.all;
  if (!agreement.all && (!pattern.found || (pattern.may_overlap && pattern.width_log2 != 5))) {
    const std::uint32_t group = __match_any_sync(lanes.mask, address);
    const auto other = static_cast<std::uint32_t>(__ffs(static_cast<int>(group))) - 1;
    const std::uint32_t differs = __ballot_sync(lanes.mask, !same_value(lanes, value, other, wide));
    agreement.overlaps = (differs & group) == 0;
  }
  return agreement;
}

__device__ __forceinline__ void write_value(const Queue& queue, std::uint64_t slot,
                                            std::uint32_t half, std::uint64_t value) {
  queue.write_half(slot, half, 0, static_cast<std::uint32_t>(value),
                   static_cast<std::uint32_t>(value >> 32), 0);
}

__device__ __forceinline__ void write_affine(std::uint64_t descriptor, const Lanes& lanes,
                                             std::uint32_t site, const Pattern& pattern,
                                             std::uint32_t flags, const UniformValue& uniform) {
  if (lanes.leads()) {
    const Queue queue(descriptor);
    // A value that stride1 has no room for takes a slot of its own.
    const bool fits = pattern.width_log2 == 5 && (site >> kSizeShift & 7) <= 2;
    const bool has_slot = uniform.known && !fits;
    const RecordKind kind = has_slot ? RecordKind::kAffineValue : RecordKind::kAffine;
    const std::uint64_t slot = queue.claim(has_slot ? 2 : 1);
    if (has_slot) {
      write_value(queue, slot + 1, 0, uniform.value);
      write_value(queue, slot + 1, 1, 0);
    }
    queue.write_pattern_half(slot, static_cast<std::uint32_t>(pattern.stride0) & 0xFFFF,
                             pattern.base, flags | uniform.flag(),
                             uniform.known && fits ? static_cast<std::uint32_t>(uniform.value)
                                                   : static_cast<std::uint32_t>(pattern.stride1));
    queue.order_commit();
    queue.write_header_half(slot, site, kind, pattern.width_log2, lanes.mask);
  }
}

// The header of a record with entries; entries are written by their lanes, before or after.
__device__ __forceinline__ void write_entry_header(const Queue& queue, std::uint64_t slot,
                                                   std::uint32_t site, RecordKind kind,
                                                   std::uint32_t mask,
                                                   const UniformValue& uniform = {}) {
  queue.write_pattern_half(slot, 0, uniform.value & 0xFFFFFFFF, uniform.flag(),
                           static_cast<std::uint32_t>(uniform.value >> 32));
  queue.order_commit();
  queue.write_header_half(slot, site, kind, 0, mask);
}

__device__ __forceinline__ void write_scattered(std::uint64_t descriptor, const Lanes& lanes,
                                                std::uint32_t site, std::uint64_t address,
                                                std::uint32_t flags, const UniformValue& uniform) {
  const Queue queue(descriptor);
  std::uint64_t slot = 0;
  if (lanes.leads()) {
    slot = queue.claim(record_slots(RecordKind::kScattered, lanes.count()));
  }
  slot = __shfl_sync(lanes.mask, slot, static_cast<int>(lanes.leader));
  const std::uint32_t rank = lanes.rank();
  queue.write_half(slot + 1 + rank / 2, rank % 2, flags, static_cast<std::uint32_t>(address),
                   static_cast<std::uint32_t>(address >> 32), 0);
  if ((lanes.count() & 1) != 0 && rank + 1 == lanes.count()) {
    queue.write_half(slot + 1 + rank / 2, 1, 0, 0, 0, 0);
  }
  if (queue.fence_and_flag()) {
    queue.order_commit();
    __syncwarp(lanes.mask);
  }
  if (lanes.leads()) {
    write_entry_header(queue, slot, site, RecordKind::kScattered, lanes.mask, uniform);
  }
}

// A lane must not claim again before its record here is claimed, so all leave together.
__device__ __forceinline__ void log_access(std::uint32_t site, std::uint64_t address,
                                           const StoredValue& value, bool wide) {
  const std::uint64_t descriptor = __barracuda_descriptor;
  if (descriptor == 0 || address == kNoAddress) {
    return;
  }
  const Lanes lanes = Lanes::at_site(site);
  const Pattern pattern = find_pattern(address, lanes);
  Agreement agreement = find_agreement(address, lanes, value, pattern, wide);
  if ((site & kConstantValue) != 0) {
    agreement.overlaps = true;
  }
  UniformValue uniform;
  if (agreement.all) {
    uniform = {stored_value(value.low, value.high), true};
  }
  if (!pattern.found) {
    write_scattered(descriptor, lanes, site, address, agreement.overlaps ? kLaneAgrees : 0,
                    uniform);
  } else {
    const std::uint32_t flags = __all_sync(lanes.mask, agreement.overlaps) != 0 ? kLanesAgree : 0;
    write_affine(descriptor, lanes, site, pattern, flags, uniform);
  }
  __syncwarp(lanes.mask);
}

// What a release takes before its access and needs again after it.
struct ReleaseToken {
  std::uint64_t slot;     // of this lane's entry; kNoSlot if it does not log
  std::uint64_t address;  // tagged
  std::uint64_t number;
};

__device__ __forceinline__ bool is_global(std::uint64_t address) {
  return space_of(address) == AddressSpace::kGlobal;
}

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
  slot = __shfl_sync(active.mask, slot, static_cast<int>(lanes.leader));
  __syncwarp(active.mask);
  return slot + 1 + 2 * lanes.rank();
}

__device__ __forceinline__ ReleaseToken begin_release(std::uint32_t site, std::uint64_t address) {
  const std::uint64_t descriptor = __barracuda_descriptor;
  ReleaseToken token;
  token.slot = kNoSlot;
  token.address = address;
  token.number = 0;
  if (descriptor != 0 && address != kNoAddress) {
    const Queue queue(descriptor);
    token.slot = claim_release(queue, Lanes::at_site(site), site);
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
  const std::uint64_t descriptor = __barracuda_descriptor;
  if (descriptor == 0 || address == kNoAddress) {
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
  const Lanes lanes = Lanes::at_site(site);
  __syncwarp(lanes.mask);
  std::uint64_t slot = 0;
  if (lanes.leads()) {
    slot = queue.claim(record_slots(RecordKind::kAcquire, lanes.count()));
  }
  slot = __shfl_sync(lanes.mask, slot, static_cast<int>(lanes.leader));
  const std::uint64_t entry = slot + 1 + lanes.rank();
  queue.write_half(entry, 0, flags, static_cast<std::uint32_t>(address),
                   static_cast<std::uint32_t>(address >> 32), stamp);
  write_value(queue, entry, 1, value);
  if (queue.fence_and_flag()) {
    queue.order_commit();
    __syncwarp(lanes.mask);
  }
  if (lanes.leads()) {
    write_entry_header(queue, slot, site, RecordKind::kAcquire, lanes.mask);
  }
  __syncwarp(lanes.mask);
}

struct Operands {
  std::uint64_t target, second, third;  // as in LaneOperands
  std::uint64_t amount_and_flags;       // the lane's flags above 32 bits of amount
};

__device__ __forceinline__ void tag_operands(std::uint32_t site, Operands& operands) {
  if ((site & kGenericTarget) != 0) {
    operands.target = tagged_generic(operands.target);
  }
  if ((site & kGenericSecond) != 0) {
    operands.second = tagged_generic(operands.second);
  }
  if ((site & kGenericThird) != 0) {
    operands.third = tagged_generic(operands.third);
  }
}

// What is logged before its operation has its slots before any thread can see the operation; what
// is logged after, behind all that it saw.
__device__ __forceinline__ void log_operands(std::uint32_t site, Operands operands) {
  const std::uint64_t descriptor = __barracuda_descriptor;
  if (descriptor == 0) {
    return;
  }
  tag_operands(site, operands);
  if (operands.target == kNoAddress) {
    return;
  }
  if ((site & kAfterOperation) != 0) {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
#else
    asm volatile("fence.acq_rel.cta;" ::: "memory");
#endif
  }
  const Queue queue(descriptor);
  const Lanes lanes = Lanes::at_site(site);
  __syncwarp(lanes.mask);
  std::uint64_t slot = 0;
  if (lanes.leads()) {
    slot = queue.claim_and_acquire(record_slots(RecordKind::kOperands, lanes.count()));
  }
  slot = __shfl_sync(lanes.mask, slot, static_cast<int>(lanes.leader));
  const std::uint64_t entry = slot + 1 + 2 * lanes.rank();
  queue.write_half(entry, 0, static_cast<std::uint32_t>(operands.amount_and_flags >> 32),
                   static_cast<std::uint32_t>(operands.target),
                   static_cast<std::uint32_t>(operands.target >> 32),
                   static_cast<std::uint32_t>(operands.amount_and_flags));
  write_value(queue, entry, 1, operands.second);
  write_value(queue, entry + 1, 0, operands.third);
  write_value(queue, entry + 1, 1, 0);
  if (queue.fence_and_flag()) {
    queue.order_commit();
    __syncwarp(lanes.mask);
  }
  if (lanes.leads()) {
    write_entry_header(queue, slot, site, RecordKind::kOperands, lanes.mask);
  }
  __syncwarp(lanes.mask);
}

__device__ __forceinline__ void log_event(std::uint32_t site, std::uint32_t detail,
                                          std::uint32_t threads) {
  const std::uint64_t descriptor = __barracuda_descriptor;
  if (descriptor == 0) {
    return;
  }
  const Lanes together = Lanes::at_site(site);
  // Lanes may name different barriers or masks: a record has one.
  const Lanes lanes(
      __match_any_sync(together.mask, static_cast<std::uint64_t>(threads) << 32 | detail));
  if (lanes.leads()) {
    const Queue queue(descriptor);
    const std::uint64_t slot = queue.claim(1);
    queue.write_pattern_half(slot, 0, detail, 0, threads);
    queue.order_commit();
    queue.write_header_half(slot, site, RecordKind::kEvent, 0, lanes.mask);
  }
  __syncwarp(lanes.mask);
}

}  // namespace barracuda::wire

#define BARRACUDA_HOOK extern "C" __device__ __noinline__

using barracuda::wire::ReleaseToken;

BARRACUDA_HOOK void __barracuda_access(std::uint32_t site, std::uint64_t address) {
  barracuda::wire::log_access(site, address, {}, false);
}

BARRACUDA_HOOK void __barracuda_access_generic(std::uint32_t site, std::uint64_t address) {
  barracuda::wire::log_access(site, barracuda::wire::tagged_generic(address), {}, false);
}

BARRACUDA_HOOK void __barracuda_store(std::uint32_t site, std::uint64_t address,
                                      std::uint64_t value) {
  barracuda::wire::log_access(site, address, {value, 0, true}, false);
}

BARRACUDA_HOOK void __barracuda_store_generic(std::uint32_t site, std::uint64_t address,
                                              std::uint64_t value) {
  barracuda::wire::log_access(site, barracuda::wire::tagged_generic(address), {value, 0, true},
                              false);
}

BARRACUDA_HOOK void __barracuda_store_wide(std::uint32_t site, std::uint64_t address,
                                           std::uint64_t low, std::uint64_t high) {
  barracuda::wire::log_access(site, address, {low, high, true}, true);
}

BARRACUDA_HOOK void __barracuda_store_wide_generic(std::uint32_t site, std::uint64_t address,
                                                   std::uint64_t low, std::uint64_t high) {
  barracuda::wire::log_access(site, barracuda::wire::tagged_generic(address), {low, high, true},
                              true);
}

BARRACUDA_HOOK ReleaseToken __barracuda_release_begin(std::uint32_t site, std::uint64_t address) {
  return barracuda::wire::begin_release(site, address);
}

BARRACUDA_HOOK ReleaseToken __barracuda_release_begin_generic(std::uint32_t site,
                                                              std::uint64_t address) {
  return barracuda::wire::begin_release(site, barracuda::wire::tagged_generic(address));
}

// `number` and `flags` are one word: the lane flags above 32 bits of number.
BARRACUDA_HOOK void __barracuda_release_end(std::uint32_t site, std::uint64_t slot,
                                            std::uint64_t address, std::uint64_t number_and_flags,
                                            std::uint64_t value_read, std::uint64_t value_written) {
  using namespace barracuda::wire;
  if (slot == kNoSlot) {
    return;
  }
  const Queue queue(__barracuda_descriptor);
  queue.write_half(slot, 0, static_cast<std::uint32_t>(number_and_flags >> 32),
                   static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32),
                   static_cast<std::uint32_t>(number_and_flags));
  write_value(queue, slot, 1, value_read);
  write_value(queue, slot + 1, 0, value_written);
  write_value(queue, slot + 1, 1, 0);
  if (queue.fence_and_flag()) {
    write_entry_header(queue, slot - 1, site, RecordKind::kRelease, 1U << lane_id());
  }
}

BARRACUDA_HOOK void __barracuda_acquire(std::uint32_t site, std::uint64_t address,
                                        std::uint64_t value, std::uint32_t flags) {
  barracuda::wire::log_acquire(site, address, value, flags);
}

BARRACUDA_HOOK void __barracuda_acquire_generic(std::uint32_t site, std::uint64_t address,
                                                std::uint64_t value, std::uint32_t flags) {
  barracuda::wire::log_acquire(site, barracuda::wire::tagged_generic(address), value, flags);
}

// Of mbarrier operations and copies. The site's word says which addresses are generic and whether
// the operation is over.
BARRACUDA_HOOK void __barracuda_operands(std::uint32_t site, std::uint64_t target,
                                         std::uint64_t second, std::uint64_t third,
                                         std::uint64_t amount_and_flags) {
  barracuda::wire::log_operands(site, {target, second, third, amount_and_flags});
}

// `detail` is a barrier's id, a warp barrier's mask, the groups that a wait leaves, the lanes that
// take a branch or the way that lanes go, `threads` a barrier's count.
BARRACUDA_HOOK void __barracuda_event(std::uint32_t site, std::uint32_t detail,
                                      std::uint32_t threads) {
  barracuda::wire::log_event(site, detail, threads);
}

// What the program reads of %ctaid instead (BlockOrder): the coordinate 0, 1 or 2.
BARRACUDA_HOOK std::uint32_t __barracuda_ctaid(std::uint32_t coordinate) {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_descriptor;
  const std::uint32_t cta = descriptor == 0 ? linear_cta() : Queue(descriptor).program_cta();
  const std::uint32_t row = cta / gridDim.x;
  return coordinate == 0 ? cta - row * gridDim.x
                         : (coordinate == 1 ? row % gridDim.y : row / gridDim.y);
}

// Lanes of `members` parted and meet here. A GPU brings them together where it sees fit; where the
// device is emulated, this waits for them.
BARRACUDA_HOOK void __barracuda_meet(std::uint32_t site, std::uint32_t members,
                                     std::uint32_t threads) {
  barracuda::wire::log_event(site, members, threads);
}
