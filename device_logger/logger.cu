// The functions that instrumented code calls. Compiled to PTX when the tool is built and linked
// into every instrumented module (logger_image.h). Parameters are packed because every call site
// pays for them: `site` is a word of site_word.h. Addresses are tagged (record.h), but for the
// hooks named _generic.
//
// Lanes that arrive together from one site are logged together: nothing is assumed about how the
// program converged, nor about what the hardware runs together.
#include <cstdint>

#include "device_logger/logger_access.cuh"
#include "device_logger/logger_address.cuh"
#include "device_logger/logger_order.cuh"
#include "device_logger/logger_queue.cuh"
#include "device_logger/record.h"
#include "device_logger/shared_states.cuh"
#include "device_logger/site_word.h"
#include "device_logger/tensor_copies.cuh"

namespace barracuda::wire {

// A number, as the native twin of a hook can give it back.
struct HookResult {
  std::uint64_t number;
};

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
  const std::uint64_t descriptor = __barracuda_block.descriptor;
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
  lanes.converge();
  std::uint64_t slot = 0;
  if (lanes.leads()) {
    slot = queue.claim_and_acquire(record_slots(RecordKind::kOperands, lanes.count()));
  }
  slot = lanes.broadcast(slot);
  const std::uint64_t entry = slot + 1 + 2 * lanes.rank();
  write_value(queue, entry, 0, operands.target,
              static_cast<std::uint32_t>(operands.amount_and_flags >> 32),
              static_cast<std::uint32_t>(operands.amount_and_flags));
  write_value(queue, entry, 1, operands.second);
  write_value(queue, entry + 1, 0, operands.third);
  write_value(queue, entry + 1, 1, 0);
  finish_entries(queue, lanes, slot, site, RecordKind::kOperands);
  lanes.converge();
}

__device__ __forceinline__ void log_event(std::uint32_t site, std::uint32_t detail,
                                          std::uint32_t threads) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return;
  }
  const BlockStates states(descriptor, (site & (kLeavesKernel | kOfWholeBlock)) != 0);
  const Lanes together = Lanes::at_site(site);
  if ((site & kLeavesKernel) != 0) {
    const Lanes leaving(Lanes::like(together.mask, detail));
    if (states.are_kept() && leaving.leads() && (site & kCounted) == 0) {
      states.leave(leaving.mask, detail);
    }
    detail = states.are_kept() ? 1 : 0;
  }
  // Lanes may name different barriers or masks: a record has one.
  const Lanes lanes(Lanes::like(together.mask, static_cast<std::uint64_t>(threads) << 32 | detail));
  lanes.converge();  // what these lanes have told of is before what the leader counts
  if (lanes.leads()) {
    const EventRecord event{.site = site,
                            .warp = linear_warp(),
                            .mask = lanes.mask,
                            .detail = detail,
                            .threads = threads};
    if (states.are_kept() && (site & kCounted) != 0) {
      if ((site & kLeavesKernel) != 0) {
        states.log_exit(event);
      } else if (event.warp == 0) {
        states.log_barrier(event);
      }
    } else if (states.are_kept() && (site & kOfWholeBlock) != 0) {
      states.gather(event);
    } else {
      write_event(Queue(descriptor), event);
    }
  }
  lanes.converge();
}

}  // namespace barracuda::wire

#define BARRACUDA_HOOK extern "C" __device__ __noinline__

using barracuda::wire::HookResult;
using barracuda::wire::ReleaseToken;
using barracuda::wire::StateUse;
using barracuda::wire::stored_value;

BARRACUDA_HOOK void __barracuda_access(std::uint32_t site, std::uint64_t address) {
  barracuda::wire::log_access(site, address, {});
}

BARRACUDA_HOOK void __barracuda_access_generic(std::uint32_t site, std::uint64_t address) {
  barracuda::wire::log_access(site, barracuda::wire::tagged_generic(address), {});
}

BARRACUDA_HOOK void __barracuda_store(std::uint32_t site, std::uint64_t address,
                                      std::uint64_t value) {
  barracuda::wire::log_access(site, address, {value, 0, true});
}

BARRACUDA_HOOK void __barracuda_store_generic(std::uint32_t site, std::uint64_t address,
                                              std::uint64_t value) {
  barracuda::wire::log_access(site, barracuda::wire::tagged_generic(address), {value, 0, true});
}

BARRACUDA_HOOK void __barracuda_store_wide(std::uint32_t site, std::uint64_t address,
                                           std::uint64_t low, std::uint64_t high) {
  barracuda::wire::log_access(site, address, {low, high, true, true});
}

BARRACUDA_HOOK void __barracuda_store_wide_generic(std::uint32_t site, std::uint64_t address,
                                                   std::uint64_t low, std::uint64_t high) {
  barracuda::wire::log_access(site, barracuda::wire::tagged_generic(address),
                              {low, high, true, true});
}

// Most accesses need no record. Hooks that only ask for that call nothing and use few registers,
// and come before those that log: where functions are compiled by themselves (jit/compiler.h), each
// saves the registers that it uses before it begins, which takes as long as all that these do.

// Before the hook of a plain access to memory that is not shared: whether to go round it.
BARRACUDA_HOOK HookResult __barracuda_leaves_out(std::uint32_t site, std::uint64_t address) {
  return {barracuda::wire::leaves_out(site, address)};
}

BARRACUDA_HOOK HookResult __barracuda_leaves_out_generic(std::uint32_t site,
                                                         std::uint64_t address) {
  return {barracuda::wire::leaves_out(site, barracuda::wire::tagged_generic(address))};
}

// The same in kernels whose threads barriers alone order (word_owners.h), of loads and stores.
BARRACUDA_HOOK HookResult __barracuda_owns(std::uint32_t site, std::uint64_t address,
                                           std::uint32_t interval) {
  return {barracuda::wire::owns_access(site, address, interval)};
}

BARRACUDA_HOOK HookResult __barracuda_owns_store(std::uint32_t site, std::uint64_t address,
                                                 std::uint32_t interval, std::uint64_t low,
                                                 std::uint64_t high) {
  return {barracuda::wire::owns_access(site, address, interval, {stored_value(low, high), true})};
}

// In kernels whose threads barriers alone order (shared_states.h), before the hook of an access
// that may be to shared memory: whether to go round it. One for loads, one for atomics whose
// results nobody reads, one for stores of known values, and one for all others.
BARRACUDA_HOOK HookResult __barracuda_keep_load(std::uint32_t site, std::uint64_t address,
                                                std::uint32_t interval) {
  return {barracuda::wire::keep_access<StateUse::kRead>(site, address, interval)};
}

BARRACUDA_HOOK HookResult __barracuda_keep_load_generic(std::uint32_t site, std::uint64_t address,
                                                        std::uint32_t interval) {
  return {barracuda::wire::keep_access<StateUse::kRead>(
      site, barracuda::wire::tagged_generic(address), interval)};
}

BARRACUDA_HOOK HookResult __barracuda_keep_reduction(std::uint32_t site, std::uint64_t address,
                                                     std::uint32_t interval) {
  return {barracuda::wire::keep_access<StateUse::kReduction>(site, address, interval)};
}

BARRACUDA_HOOK HookResult __barracuda_keep_reduction_generic(std::uint32_t site,
                                                             std::uint64_t address,
                                                             std::uint32_t interval) {
  return {barracuda::wire::keep_access<StateUse::kReduction>(
      site, barracuda::wire::tagged_generic(address), interval)};
}

BARRACUDA_HOOK HookResult __barracuda_keep_store(std::uint32_t site, std::uint64_t address,
                                                 std::uint32_t interval, std::uint64_t low,
                                                 std::uint64_t high) {
  return {barracuda::wire::keep_access<StateUse::kWrite>(site, address, interval,
                                                         {stored_value(low, high), true})};
}

BARRACUDA_HOOK HookResult __barracuda_keep_store_generic(std::uint32_t site, std::uint64_t address,
                                                         std::uint32_t interval, std::uint64_t low,
                                                         std::uint64_t high) {
  return {barracuda::wire::keep_access<StateUse::kWrite>(
      site, barracuda::wire::tagged_generic(address), interval, {stored_value(low, high), true})};
}

BARRACUDA_HOOK HookResult __barracuda_keep_access(std::uint32_t site, std::uint64_t address,
                                                  std::uint32_t interval) {
  return {barracuda::wire::keep_access<StateUse::kWrite>(site, address, interval)};
}

BARRACUDA_HOOK HookResult __barracuda_keep_access_generic(std::uint32_t site, std::uint64_t address,
                                                          std::uint32_t interval) {
  return {barracuda::wire::keep_access<StateUse::kWrite>(
      site, barracuda::wire::tagged_generic(address), interval)};
}

// Of those: what comes before the access is logged, and the access if it has to be. Each part is a
// function of its own, so that a kernel needs no more registers than one of them has.
BARRACUDA_HOOK bool __barracuda_follow_states(std::uint32_t site, std::uint64_t address,
                                              std::uint32_t interval, std::uint64_t value,
                                              bool is_known) {
  return barracuda::wire::follow_states(site, address, interval, {value, is_known});
}

BARRACUDA_HOOK bool __barracuda_follow_owners(std::uint32_t site, std::uint64_t address,
                                              std::uint32_t interval, std::uint64_t value,
                                              bool is_known) {
  return barracuda::wire::follow_owners(site, address, interval, {value, is_known});
}

enum class AccessedMemory { kShared, kGlobal, kGeneric };

template <AccessedMemory kMemory>
__device__ __forceinline__ bool follow(std::uint32_t site, std::uint64_t address,
                                       std::uint32_t interval, std::uint64_t value = 0,
                                       bool is_known = false) {
  if (__barracuda_block.descriptor == 0 || address == barracuda::wire::kNoAddress) {
    return false;
  }
  const bool is_global =
      kMemory == AccessedMemory::kGlobal ||
      (kMemory == AccessedMemory::kGeneric && barracuda::wire::is_global(address));
  return is_global ? __barracuda_follow_owners(site, address, interval, value, is_known)
                   : __barracuda_follow_states(site, address, interval, value, is_known);
}

template <AccessedMemory kMemory>
__device__ __forceinline__ void log_followed_access(std::uint32_t site, std::uint64_t address,
                                                    std::uint32_t interval) {
  if (follow<kMemory>(site, address, interval)) {
    __barracuda_access(site, address);
  }
}

template <AccessedMemory kMemory>
__device__ __forceinline__ void log_followed_store(std::uint32_t site, std::uint64_t address,
                                                   std::uint32_t interval, std::uint64_t low,
                                                   std::uint64_t high) {
  if (follow<kMemory>(site, address, interval, barracuda::wire::stored_value(low, high), true)) {
    __barracuda_store_wide(site, address, low, high);
  }
}

BARRACUDA_HOOK void __barracuda_followed_access(std::uint32_t site, std::uint64_t address,
                                                std::uint32_t interval) {
  log_followed_access<AccessedMemory::kShared>(site, address, interval);
}

BARRACUDA_HOOK void __barracuda_followed_access_generic(std::uint32_t site, std::uint64_t address,
                                                        std::uint32_t interval) {
  log_followed_access<AccessedMemory::kGeneric>(site, barracuda::wire::tagged_generic(address),
                                                interval);
}

BARRACUDA_HOOK void __barracuda_followed_global_access(std::uint32_t site, std::uint64_t address,
                                                       std::uint32_t interval) {
  log_followed_access<AccessedMemory::kGlobal>(site, address, interval);
}

BARRACUDA_HOOK void __barracuda_followed_store(std::uint32_t site, std::uint64_t address,
                                               std::uint32_t interval, std::uint64_t low,
                                               std::uint64_t high) {
  log_followed_store<AccessedMemory::kShared>(site, address, interval, low, high);
}

BARRACUDA_HOOK void __barracuda_followed_store_generic(std::uint32_t site, std::uint64_t address,
                                                       std::uint32_t interval, std::uint64_t low,
                                                       std::uint64_t high) {
  log_followed_store<AccessedMemory::kGeneric>(site, barracuda::wire::tagged_generic(address),
                                               interval, low, high);
}

BARRACUDA_HOOK void __barracuda_followed_global_store(std::uint32_t site, std::uint64_t address,
                                                      std::uint32_t interval, std::uint64_t low,
                                                      std::uint64_t high) {
  log_followed_store<AccessedMemory::kGlobal>(site, address, interval, low, high);
}

// Before the hooks of a strong access of such a kernel: what was kept of its bytes is logged, and
// from now on all that comes to them.
BARRACUDA_HOOK HookResult __barracuda_log_states(std::uint32_t site, std::uint64_t address,
                                                 std::uint32_t interval) {
  return {follow<AccessedMemory::kShared>(site, address, interval)};
}

BARRACUDA_HOOK HookResult __barracuda_log_states_generic(std::uint32_t site, std::uint64_t address,
                                                         std::uint32_t interval) {
  return {
      follow<AccessedMemory::kGeneric>(site, barracuda::wire::tagged_generic(address), interval)};
}

BARRACUDA_HOOK HookResult __barracuda_log_owners(std::uint32_t site, std::uint64_t address,
                                                 std::uint32_t interval) {
  return {follow<AccessedMemory::kGlobal>(site, address, interval)};
}

// Where barriers of warps are counted, before whatever else orders threads is logged: those of the
// warp are.
BARRACUDA_HOOK void __barracuda_tell_barriers(std::uint32_t site, std::uint32_t interval) {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor != 0) {
    BlockStates(descriptor).tell_own_barriers(Lanes::at_site(site), interval);
  }
}

// First of all in such a kernel, by all threads of the block. `dynamic`: where its dynamic shared
// memory begins. Whether they must meet before they go on.
BARRACUDA_HOOK HookResult __barracuda_begin_block(std::uint32_t dynamic) {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    __barracuda_block.states = 0;
    return {0};
  }
  return {BlockStates::begin(descriptor, dynamic)};
}

// Behind a barrier of the whole block. Without states every access is logged, as by who is frozen.
// With kBeginsAgain all threads of the block come to it together, and none has left: there numbers
// begin again, and whether all must meet before they go on is kAllMeet.
template <bool kBeginsAgain>
__device__ __forceinline__ std::uint64_t number_behind_barrier(std::uint32_t interval) {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return kFrozen;
  }
  const BlockStates states(descriptor);
  if (!states.are_kept()) {
    return kFrozen;
  }
  if (kBeginsAgain && ends_round(interval)) {
    states.forget();
    return kAllMeet | kFirstOfRound;
  }
  return states.next(interval);
}

BARRACUDA_HOOK HookResult __barracuda_next_interval(std::uint32_t interval) {
  return {number_behind_barrier<false>(interval)};
}

BARRACUDA_HOOK HookResult __barracuda_count_interval(std::uint32_t interval) {
  return {number_behind_barrier<true>(interval)};
}

// Before a barrier that all threads of a block come to together: whether it has to be logged, as
// far as this thread knows. Without states each warp logs it.
BARRACUDA_HOOK HookResult __barracuda_logs_barrier() {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return {0};
  }
  const BlockStates states(descriptor);
  return {!states.are_kept() || states.is_logged()};
}

// Before the event of a thread that leaves, where exits are counted: whether it is to be told.
BARRACUDA_HOOK HookResult __barracuda_logs_exit() {
  return {__barracuda_block.descriptor != 0 && barracuda::wire::logs_exit()};
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
  const Queue queue(__barracuda_block.descriptor);
  write_release(queue, slot, site, lane_id(), address, number_and_flags, value_read, value_written);
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

// Of copies of boxes of tensors. The last four words are those of TensorOperands.
BARRACUDA_HOOK void __barracuda_tensor_copy(std::uint32_t site, std::uint64_t map,
                                            std::uint64_t shared, std::uint64_t mbarrier,
                                            std::uint64_t first, std::uint64_t second,
                                            std::uint64_t third, std::uint32_t pixels) {
  barracuda::wire::log_tensor_copy(site, {map, shared, mbarrier, {first, second, third}, pixels});
}

// `detail` is a barrier's id, a warp barrier's mask, the groups that a wait leaves, the lanes that
// take a branch or the way that lanes go, `threads` a barrier's count.
BARRACUDA_HOOK void __barracuda_event(std::uint32_t site, std::uint32_t detail,
                                      std::uint32_t threads) {
  barracuda::wire::log_event(site, detail, threads);
}

// The same of sites that may be quiet: fences (SiteInfo::narrow_kernel), and, by one warp of a
// launch, where a variable of its kernel lies in shared memory, and which one, the number 0 last,
// if that is not known yet (Operation::kSharedPlace).
BARRACUDA_HOOK void __barracuda_optional_event(std::uint32_t site, std::uint32_t detail,
                                               std::uint32_t threads) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor != 0 && !barracuda::wire::is_quiet(descriptor, site)) {
    barracuda::wire::log_event(site, detail, threads);
  }
}

// Of asynchronous copies in kernels that keep states of them (copy_states.h): what one writes, a
// commit, and a wait that leaves so many groups. `groups` is the register that counts them; the
// last two say what it is behind them.
BARRACUDA_HOOK void __barracuda_copy(std::uint32_t site, std::uint64_t address,
                                     std::uint32_t interval, std::uint32_t groups) {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return;
  }
  const BlockStates states(descriptor);
  if (states.are_kept()) {
    states.copy(site, address, interval, groups);
  } else {
    __barracuda_access(site, address);
  }
}

BARRACUDA_HOOK HookResult __barracuda_commit_copies(std::uint32_t site, std::uint32_t groups) {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor != 0 && (!BlockStates(descriptor).are_kept() || (groups & kLogsGroups) != 0)) {
    __barracuda_event(site, 0, 0);
  }
  return {after_commit(groups)};
}

BARRACUDA_HOOK HookResult __barracuda_wait_copies(std::uint32_t site, std::uint32_t left,
                                                  std::uint32_t groups, std::uint32_t interval) {
  using namespace barracuda::wire;
  const std::uint32_t after = left == kWaitAll ? after_commit(groups) : groups;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return {after};
  }
  const BlockStates states(descriptor);
  if (states.are_kept()) {
    states.wait_for(groups_over(after, left == kWaitAll ? 0 : left), interval);
  }
  if (!states.are_kept() || (groups & kLogsGroups) != 0) {
    __barracuda_event(site, left, 0);
  }
  return {after};
}

// What the program reads of %ctaid instead (BlockOrder): the coordinate 0, 1 or 2.
BARRACUDA_HOOK std::uint32_t __barracuda_ctaid(std::uint32_t coordinate) {
  using namespace barracuda::wire;
  const std::uint64_t descriptor = __barracuda_block.descriptor;
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
