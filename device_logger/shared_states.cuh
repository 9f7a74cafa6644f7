// The device's end of shared_states.h.
#pragma once

#include <cstdint>

#include "device_logger/block_events.h"
#include "device_logger/block_memory.cuh"
#include "device_logger/copy_states.h"
#include "device_logger/launch_descriptor.h"
#include "device_logger/logger_queue.cuh"
#include "device_logger/shared_states.h"
#include "device_logger/write_record.h"

namespace barracuda::wire {

// What an access stores, mixed to one word, if it is known.
struct StoredValue {
  std::uint64_t value = 0;
  bool is_known = false;
};

// Of what all lanes store, if that is one value; of replicated stores what this lane stores.
__device__ __forceinline__ std::uint32_t mark_of(const Lanes& lanes, std::uint32_t site,
                                                 const StoredValue& stored) {
  const bool is_known =
      stored.is_known &&
      ((site & kKnownValues) != 0 || lanes.all(lanes.broadcast(stored.value) == stored.value));
  return is_known ? value_mark(stored.value) : 0;
}

// False also where it is not known at once: mostly words go up with the lanes. To match them
// takes as long as there are different ones, four times as long as to change a state.
__device__ __forceinline__ bool are_distinct(const Lanes& lanes, std::uint32_t word) {
  const std::uint32_t before = lanes.mask & ((1U << lanes.lane) - 1);
  const std::uint32_t last = 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(before)));
  const std::uint32_t lower = lanes.value_at(word, last);
  return lanes.those(before != 0 && lower >= word) == 0 ||
         __popc(Lanes::like(lanes.mask, word)) == 1;
}

// Of a warp, in the header of its block: its lanes that left.
__device__ __forceinline__ BlockPlace left_lanes(BlockPlace header, std::uint32_t warp) {
  return header + kLeftMasks + std::uint64_t{warp} * 4;
}

// The words of a block's threads that say how far each has waited for its copies (copy_states.h).
struct ProgressWords {
  BlockPlace end;  // of the block's states

  [[nodiscard]] __device__ __forceinline__ BlockPlace place(std::uint32_t thread) const {
    return progress_offset(end, blockDim.x * blockDim.y * blockDim.z, thread);
  }

  [[nodiscard]] __device__ __forceinline__ CopyProgress operator()(std::uint32_t thread) const {
    return CopyProgress(load_block_state(place(thread)));
  }
};

// What a block keeps. Only its own threads come here, so that is the scope.
class BlockStates {
 public:
  // Unless it `may_keep` them, none are kept.
  __device__ __forceinline__ explicit BlockStates(std::uint64_t descriptor, bool may_keep = true)
      : descriptor_(descriptor) {
    if (may_keep) {
      header_ = __barracuda_block.header;
      const uint4 words = *reinterpret_cast<const uint4*>(&__barracuda_block.states);
      at_ = join(words.x, words.y);
      states_.window = words.z;
      set_shape(states_, words.w);
    }
  }

  // By every thread of the block, first of all; `dynamic`: where its dynamic shared memory begins.
  // Whether they have to meet then, before anything is kept: each clears a part of it, and each has
  // stored that there is none.
  [[nodiscard]] __device__ __forceinline__ static bool begin(std::uint64_t descriptor,
                                                             std::uint32_t dynamic) {
    const std::uint64_t place = descriptor + offsetof(LaunchDescriptor, states);
    const uint4 first = load_constant(place), second = load_constant(place + 16);
    SharedStates states;
    states.address = join(first.x, first.y);
    states.blocks = join(first.z, first.w);
    states.own_begin = second.x;
    states.own_bytes = second.y;
    states.window = second.z;
    set_shape(states, second.w);
    if (states.address == 0) {
      __barracuda_block.states = 0;
      return false;
    }
    const BlockPlaces places = places_of(states, linear_cta(), dynamic);
    const std::uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
#pragma unroll 1
    for (std::uint32_t at = linear_thread() * 16; at < states.own_bytes; at += threads * 16) {
      asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(
                       static_cast<std::uint32_t>(places.header) + at),
                   "r"(0)
                   : "memory");
    }
    __barracuda_block.header = places.header;
    __barracuda_block.states = places.states;
    __barracuda_block.window = second.z;
    __barracuda_block.shape = second.w;
    return true;
  }

  [[nodiscard]] __device__ __forceinline__ bool are_kept() const { return at_ != 0; }

  [[nodiscard]] const __device__ __forceinline__ SharedStates& shape() const { return states_; }

  // In the interval in which the first did.
  [[nodiscard]] __device__ __forceinline__ bool has_left(std::uint32_t thread) const {
    return (load_block_word(left_lanes(header_, thread / kWarpLanes)) >> thread % kWarpLanes & 1) !=
           0;
  }

  [[nodiscard]] __device__ __forceinline__ std::uint32_t next(std::uint32_t interval) const {
    return next_interval(interval, load_block_word(header_));
  }

  // By every thread of the block, behind a barrier that all come to together: each clears a part.
  __device__ __forceinline__ void forget() const {
    const std::uint64_t bytes = state_offset(states_.window, states_.granule_log2);
    const std::uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
#pragma unroll 1
    for (std::uint64_t at = linear_thread() * 8; at < bytes; at += threads * 8) {
      const WordState state(load_block_state(at_ + at));
      store_block_state(at_ + at, state.without_interval().bits());
    }
  }

  // By one lane, before `lanes` of its warp leave: whoever passes a barrier that counts them as
  // arrived sees this.
  __device__ __forceinline__ void leave(std::uint32_t lanes, std::uint32_t interval) const {
    if ((interval & kFrozen) != 0) {
      return;
    }
    set_block_bits(left_lanes(header_, linear_warp()), lanes);
    raise_block_word(header_, kMostIntervals - interval);
    __threadfence_block();
  }

  // Whether something of the block was logged since its last barrier that was.
  [[nodiscard]] __device__ __forceinline__ bool is_logged() const {
    return (load_block_word(header_ + kLoggedOfBlock) & kLoggedSinceBarrier) != 0;
  }

  // By one thread of the block, while all others wait.
  __device__ __forceinline__ void log_barrier(EventRecord event) const {
    store_block_word(header_ + kLoggedOfBlock, kLoggedEver);
    event.kind = RecordKind::kBlockEvent;
    write_event(EventQueue(descriptor_), event);
  }

  // By one of the lanes of which logs_exit() said so.
  __device__ __forceinline__ void log_exit(EventRecord event) const {
    const BlockEnd end = end_block(load_block_word(header_ + kLoggedOfBlock));
    event.kind = RecordKind::kBlockEvent;
    event.threads = end.others;
    if (end.is_logged) {
      write_event(EventQueue(descriptor_), event);
    }
  }

  // By one lane, before it logs what a warp did in an interval of that number: the barriers of the
  // warp that it counts are logged, unless they were.
  __device__ __forceinline__ void tell_warp_barriers(const Queue& queue, std::uint32_t warp,
                                                     std::uint32_t number) const {
    const BlockPlace told = header_ + kToldBarriers + std::uint64_t{warp} * 4;
    if ((number & kMostWarpBarriers) == 0 || load_block_word(told) >= number) {
      return;
    }
    write_event(queue, {.kind = RecordKind::kWarpBarriers,
                        .site = states_.first_site,
                        .warp = warp,
                        .mask = ~0U,
                        .detail = number});
    raise_block_word(told, number);
  }

  // The same of the warp of these lanes, which are in one interval.
  __device__ __forceinline__ void tell_own_barriers(const Lanes& lanes,
                                                    std::uint32_t interval) const {
    if ((interval & (kFrozen | kCountsWarps)) == kCountsWarps && lanes.leads()) {
      tell_warp_barriers(Queue(descriptor_), linear_warp(),
                         told_number(interval & kMostIntervals, warp_bits(interval)));
    }
    lanes.converge();
  }

  // By one lane of the warp whose event it is: logged, or kept until the whole block has made it.
  __device__ __forceinline__ void gather(EventRecord event) const {
    const BlockPlace place = header_ + kGatheredEvents;
    const std::uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
    const bool is_whole = event.mask == lanes_of_warp(event.warp, threads) && event.threads == 0;
    std::uint64_t bits = load_block_state(place);
    for (;;) {
      const GatheredEvents gathered(bits);
      const GatherStep step = gathered.add({.site = event.site, .detail = event.detail}, event.warp,
                                           (threads + kWarpLanes - 1) / kWarpLanes, is_whole);
      // The others' records are claimed before the block's.
      __threadfence_block();
      const std::uint64_t met = change_block_state(place, bits, step.next.bits());
      __threadfence_block();
      if (met == bits) {
        log_gathered(gathered, step, event, threads);
        return;
      }
      bits = met;
    }
  }

  // Whether the accesses of all lanes are what nearly all are: they meet nothing that they conflict
  // with, and become part of the states of their words. If not, nothing is said of any of them, and
  // follow() is called for all: what is a part already may become one again. Other uses than kUse
  // are never kept: each has a hook that is as short as can be.
  template <StateUse kUse>
  [[nodiscard]] __device__ __forceinline__ bool keep(std::uint32_t site, std::uint64_t address,
                                                     std::uint32_t interval,
                                                     const StoredValue& stored) const {
    const std::uint32_t offset = static_cast<std::uint32_t>(address);
    StateAccess access = state_access(states_, site, linear_thread());
    access.use = kUse;
    bool is_kept = has_use<kUse>(site) && has_size(states_, site) && has_state(site, address) &&
                   (interval & kFrozen) == 0 && !is_last_counted(interval);
    if constexpr (kUse == StateUse::kWrite) {
      const Lanes lanes = Lanes::at_site(site);
      is_kept = are_distinct(lanes, offset >> size_log2_at(site)) && is_kept;
      access.value_mark = mark_of(lanes, site, stored);
      return lanes.those(!(is_kept && keep_all<kUse>(site, offset, interval, access))) == 0;
    }
    is_kept = is_kept && keep_all<kUse>(site, offset, interval, access);
    // Whoever runs together now need not be of one site: some are asked twice then.
    return __ballot_sync(__activemask(), !is_kept) == 0;
  }

  // Whether this lane's access is logged. What comes before it is logged here. `is_alone`: no other
  // lane of its instruction makes one to the word: of those that do, their record says what is to
  // be said.
  [[nodiscard]] __device__ __forceinline__ bool follow(std::uint32_t site, std::uint64_t address,
                                                       std::uint32_t interval, bool is_alone,
                                                       std::uint32_t mark,
                                                       std::uint64_t value) const {
    if (!has_state(site, address)) {
      return true;
    }
    StateAccess access = state_access(states_, site, linear_thread());
    access.use = is_alone ? access.use : StateUse::kLogged;
    access.value_mark = mark;
    return take_all(site, address_of(address), interval, access, value);
  }

  // The write of an asynchronous copy to shared memory. `groups`: those that its thread has
  // committed. Logged here, if it has to be.
  __device__ __forceinline__ void copy(std::uint32_t site, std::uint64_t address,
                                       std::uint32_t interval, std::uint32_t groups) const {
    StateAccess access = state_access(states_, site, linear_thread());
    access.use = StateUse::kCopy;
    access.group = groups & kMostGroups;
    if (take_all(site, address_of(address), interval, access, 0) &&
        !is_quiet(descriptor_, site & (kMaxSites - 1))) {
      const CopyRecord record{access.group + 1,
                              progress()(linear_thread()).waited_in(interval & kMostIntervals)};
      write_past(Queue(descriptor_), {.site = site & (kMaxSites - 1),
                                      .interval = kCopyPending,
                                      .thread = linear_thread(),
                                      .address = address,
                                      .value = {record.packed(), false}});
    }
  }

  // This thread has waited for all its groups of copies but some.
  __device__ __forceinline__ void wait_for(std::uint32_t over, std::uint32_t interval) const {
    const ProgressWords words = progress();
    store_block_state(words.place(linear_thread()),
                      words(linear_thread()).after_wait(over, interval & kMostIntervals).bits());
  }

 private:
  __device__ __forceinline__ static void set_shape(SharedStates& states, std::uint32_t word) {
    states.first_site = word & (kMaxSites - 1);
    states.granule_log2 = word >> kSiteBits & ((1U << SharedStates::kGranuleBits) - 1);
    states.owner_granule_log2 =
        word >> (kSiteBits + SharedStates::kGranuleBits) & ((1U << SharedStates::kGranuleBits) - 1);
    states.keeps_copies = word >> (kSiteBits + 2 * SharedStates::kGranuleBits) & 1;
  }

  [[nodiscard]] __device__ __forceinline__ bool has_state(std::uint32_t site,
                                                          std::uint64_t address) const {
    constexpr std::uint64_t kFirst = tagged_address(AddressSpace::kShared, 0);
    return address >> 32 == kFirst >> 32 &&
           static_cast<std::uint32_t>(address) + bytes_at(site) <= states_.window;
  }

  // Of all states of its bytes: if one of them has to be logged, so have all.
  __device__ __forceinline__ bool take_all(std::uint32_t site, std::uint64_t offset,
                                           std::uint32_t interval, StateAccess access,
                                           std::uint64_t value) const {
    const std::uint64_t granule = std::uint64_t{1} << states_.granule_log2;
    const std::uint64_t begin = offset & ~(granule - 1), end = offset + bytes_at(site);
    bool logs = false;
#pragma unroll 1
    for (std::uint64_t at = begin; at < end; at += granule) {
      const bool logs_now = take(at, interval, access, value);
      if (logs_now && !logs && begin + granule < end && access.use != StateUse::kCopy) {
        access.use = StateUse::kLogged;
        at = begin - granule;  // once more
      }
      logs = logs_now || logs;
    }
    return logs;
  }

  // Nearly all accesses are of one granule that nobody has accessed in this interval, or this
  // thread so, and are through in a few instructions. (In a loop they would pay for all its
  // constants.)
  template <StateUse kUse>
  __device__ __forceinline__ bool keep_all(std::uint32_t site, std::uint32_t offset,
                                           std::uint32_t interval,
                                           const StateAccess& access) const {
    const std::uint32_t end = offset + bytes_at(site);
    BlockPlace place = place_of(offset);
    std::uint64_t bits = load_block_state(place);
    if (access.by.granules_log2 == 0) {
      const std::uint64_t alone = state_alone<kUse>(interval, access).bits();
      if (bits == alone) {
        return true;
      }
      if (is_over(WordState(bits), interval) && !WordState(bits).is_copy()) {
        const std::uint64_t met = change_block_state(place, bits, alone);
        if (met == bits) {
          return true;
        }
        bits = met;
      }
    }
    std::uint32_t at = offset >> states_.granule_log2 << states_.granule_log2;
#pragma unroll 1
    while (keep_one<kUse>(place, bits, interval, access)) {
      at += 1U << states_.granule_log2;
      if (at >= end) {
        return true;
      }
      place = place_of(at);
      bits = load_block_state(place);
    }
    return false;
  }

  // Of a state that was `bits`.
  template <StateUse kUse>
  __device__ __forceinline__ bool keep_one(BlockPlace place, std::uint64_t bits,
                                           std::uint32_t interval,
                                           const StateAccess& access) const {
#pragma unroll 1
    for (;;) {
      const WordState state = settled(WordState(bits), interval, access.by.thread, progress());
      if (state.is_copy()) {
        return false;
      }
      const StateStep step = step_by<kUse>(state, interval, access);
      const std::uint64_t next = step.next.bits();
      if (step.logs || next == bits) {
        return !step.logs;
      }
      const std::uint64_t met = change_block_state(place, bits, next);
      if (met == bits) {
        return true;
      }
      bits = met;
    }
  }

  // Who ends the last block leaves the word as it was: 0.
  __device__ __forceinline__ BlockEnd end_block(std::uint32_t logged) const {
    const std::uint64_t blocks = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
    const uint4 words = load_constant(descriptor_ + offsetof(LaunchDescriptor, states));
    const std::uint64_t ended = join(words.x, words.y);
    std::uint64_t before;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(ended), "l"(EndedBlocks::step(logged))
                 : "memory");
    const BlockEnd end = end_of_block({before}, logged, blocks);
    if (end.is_last) {
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(ended), "l"(std::uint64_t{0})
                   : "memory");
    }
    return end;
  }

  __device__ __forceinline__ void log_gathered(GatheredEvents gathered, const GatherStep& step,
                                               EventRecord event, std::uint32_t threads) const {
    if (step.outcome == GatherStep::Outcome::kKept) {
      return;
    }
    if (step.outcome == GatherStep::Outcome::kOfBlock && (event.site & kLeavesKernel) == 0) {
      if (is_logged()) {
        log_barrier(event);
      }
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

  [[nodiscard]] __device__ __forceinline__ BlockPlace place_of(std::uint64_t offset) const {
    return at_ + state_offset(offset, states_.granule_log2);
  }

  [[nodiscard]] __device__ __forceinline__ ProgressWords progress() const {
    return {at_ + state_offset(states_.window, states_.granule_log2)};
  }

  __device__ __forceinline__ void tell_wait(std::uint32_t interval) const {
    const std::uint32_t waited = progress()(linear_thread()).waited_in(interval & kMostIntervals);
    if (waited != 0) {
      write_event(Queue(descriptor_), {.kind = RecordKind::kWarpBarriers,
                                       .site = states_.first_site,
                                       .warp = linear_warp(),
                                       .mask = 1U << lane_id(),
                                       .detail = kHasWaited | waited});
    }
  }

  __device__ __forceinline__ bool take(std::uint64_t offset, std::uint32_t interval,
                                       const StateAccess& access, std::uint64_t value) const {
    const BlockPlace place = place_of(offset);
    std::uint64_t bits = load_block_state(place);
    for (;;) {
      const WordState state(bits);
      const StateStep step = step_of_any(
          state, interval, access, [&](std::uint32_t thread) { return has_left(thread); },
          progress());
      std::uint64_t met = bits;
      if (step.next.bits() != bits) {
        met = change_block_state(place, bits, step.next.bits());
      }
      if (met == bits) {
        if (step.logs && states_.keeps_copies != 0 &&
            !is_quiet(descriptor_, states_.first_site + access.by.site)) {
          tell_wait(interval);
        }
        log_kept(state, step, offset, value, interval, access.by.thread);
        return step.logs;
      }
      bits = met;
    }
  }

  __device__ __forceinline__ void log_kept(WordState state, const StateStep& step,
                                           std::uint64_t offset, std::uint64_t value,
                                           std::uint32_t interval, std::uint32_t thread) const {
    if (step.kept == 0) {
      return;
    }
    const Queue queue(descriptor_);
    const UniformValue stored{
        step.has_same_value ? value : CopyRecord::of_kept(state, step).packed(),
        step.has_same_value};
#pragma unroll 1
    for (std::uint32_t which = 0; which < 2; ++which) {
      const KeptAccess kept = state.kept(which, thread);
      const std::uint32_t site = states_.first_site + kept.site;
      if ((step.kept >> which & 1) != 0 && !is_quiet(descriptor_, site)) {
        const std::uint32_t number = number_of_kept(state, which, warp_bits(interval));
        tell_warp_barriers(queue, kept.thread / kWarpLanes, number);
        write_past(queue, {.site = site,
                           .interval = step.is_pending ? kCopyPending : number,
                           .thread = kept.thread,
                           .address = tagged_address(AddressSpace::kShared,
                                                     begin_of(states_, kept, offset)),
                           .value = which == 0 ? stored : UniformValue{}});
      }
    }
  }

  std::uint64_t descriptor_;
  BlockPlace header_ = 0, at_ = 0;
  SharedStates states_;
};

// By lanes that leave, where exits are counted: whether the last of the block's threads is among
// them, which logs it for all, or no block keeps anything. One addition each, where gather() has
// the warps of a block try again and again.
[[nodiscard]] __device__ __forceinline__ bool logs_exit() {
  if (__barracuda_block.states == 0) {
    return true;
  }
  const Lanes lanes(__activemask());
  lanes.converge();  // what they have told of is before what the leader counts
  std::uint32_t before = 0;
  if (lanes.leads()) {
    // The others' records are claimed before the block's, and told.
    before = add_to_block_word(__barracuda_block.header + kGatheredEvents, lanes.count());
  }
  return static_cast<std::uint32_t>(lanes.broadcast(before)) + lanes.count() ==
         blockDim.x * blockDim.y * blockDim.z;
}

}  // namespace barracuda::wire
