#include "session/native_states.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "base/assert.h"
#include "device_logger/block_events.h"
#include "device_logger/copy_states.h"
#include "device_logger/site_word.h"
#include "device_logger/unlogged_memory.h"
#include "device_logger/write_record.h"

namespace barracuda::session {

using wire::AddressSpace;

NativeStates::NativeStates(const wire::LaunchDescriptor& descriptor,
                           const emulator::NativeCall& call)
    : states_(descriptor.states),
      warp_(call.warp),
      threads_(call.threads),
      blocks_(static_cast<std::uint64_t>(call.ctas)) {
  const wire::BlockWords words = block_words(call);
  if (words.header != 0) {
    header_ = block_memory(words.header, call);
    at_ = block_memory(words.states, call);
  }
}

bool NativeStates::begin(const wire::LaunchDescriptor& descriptor, const emulator::NativeCall& call,
                         std::uint32_t dynamic) {
  const wire::SharedStates& states = descriptor.states;
  if (states.address == 0) {
    return false;
  }
  const wire::BlockPlaces places = wire::places_of(states, call.cta, dynamic);
  wire::BlockWords words = block_words(call);
  if (words.header == 0 && states.own_bytes != 0) {
    std::memset(block_memory(places.header, call), 0, states.own_bytes);
  }
  words.header = places.header;
  words.states = places.states;
  words.window = states.window;
  std::memcpy(call.shared_variable, &words, sizeof words);
  return true;
}

std::uint64_t* NativeStates::state_at(std::uint64_t offset) const {
  DEBUG_ASSERT(offset % granule() == 0 && offset < states_.window);
  return reinterpret_cast<std::uint64_t*>(at_ + wire::state_offset(offset, states_.granule_log2));
}

std::uint64_t NativeStates::states() const {
  return wire::state_offset(states_.window, states_.granule_log2) / sizeof(std::uint64_t);
}

std::uint64_t& NativeStates::progress_of(std::uint32_t thread) const {
  DEBUG_ASSERT(thread < threads_);
  return *reinterpret_cast<std::uint64_t*>(
      at_ + wire::progress_offset(states() * sizeof(std::uint64_t), threads_, thread));
}

void NativeStates::wait_for(std::uint32_t lane, std::uint32_t over, std::uint32_t interval) const {
  std::uint64_t& bits = progress_of(warp_ * wire::kWarpLanes + lane);
  bits = wire::CopyProgress(bits).after_wait(over, interval & wire::kMostIntervals).bits();
}

std::uint32_t* NativeStates::mask_of(std::uint32_t warp) const {
  return reinterpret_cast<std::uint32_t*>(header_ + wire::kLeftMasks) + warp;
}

std::uint32_t NativeStates::next(std::uint32_t interval) const {
  return wire::next_interval(interval, *reinterpret_cast<const std::uint32_t*>(header_));
}

void NativeStates::forget() const {
  for (std::uint64_t& bits : std::span(reinterpret_cast<std::uint64_t*>(at_), states())) {
    bits = wire::WordState(bits).without_interval().bits();
  }
}

void NativeStates::leave(std::uint32_t lanes, std::uint32_t interval) const {
  if ((interval & wire::kFrozen) != 0) {
    return;
  }
  *mask_of(warp_) |= lanes;
  std::uint32_t& left = *reinterpret_cast<std::uint32_t*>(header_);
  left = std::max(left, wire::kMostIntervals - interval);
}

bool NativeStates::has_left(std::uint32_t thread) const {
  return (*mask_of(thread / wire::kWarpLanes) >> thread % wire::kWarpLanes & 1) != 0;
}

bool NativeStates::is_logged() const {
  return (word_at<std::uint32_t>(wire::kLoggedOfBlock) & wire::kLoggedSinceBarrier) != 0;
}

bool NativeStates::log_barrier(wire::EventRecord event, const NativeQueue& queue) const {
  event.kind = wire::RecordKind::kBlockEvent;
  if (!wire::write_event(NativeEventQueue(queue), event)) {
    return false;
  }
  word_at<std::uint32_t>(wire::kLoggedOfBlock) = wire::kLoggedEver;
  return true;
}

bool NativeStates::count_exit(wire::EventRecord event, const NativeQueue& queue) const {
  auto& left = word_at<std::uint32_t>(wire::kGatheredEvents);
  const std::uint32_t with_these = left + static_cast<std::uint32_t>(std::popcount(event.mask));
  if (with_these != threads_) {
    left = with_these;
    return true;
  }
  const wire::BlockEnd end = end_block();
  event.threads = end.others;
  event.kind = wire::RecordKind::kBlockEvent;
  return !end.is_logged || wire::write_event(NativeEventQueue(queue), event);
}

// Counted once, however often its record finds the queue full: it lies at kEnding meanwhile, behind
// a bit that says so.
wire::BlockEnd NativeStates::end_block() const {
  constexpr std::uint64_t kIsThere = std::uint64_t{1} << 33, kIsLogged = std::uint64_t{1} << 32;
  auto& ending = word_at<std::uint64_t>(wire::kEnding);
  if (ending == 0) {
    const std::uint32_t logged = word_at<std::uint32_t>(wire::kLoggedOfBlock);
    auto& ended = *reinterpret_cast<std::uint64_t*>(  // NOLINT(performance-no-int-to-ptr)
        states_.address);
    const std::uint64_t before = std::atomic_ref(ended).fetch_add(wire::EndedBlocks::step(logged));
    const wire::BlockEnd end = wire::end_of_block({before}, logged, blocks_);
    if (end.is_last) {
      std::atomic_ref(ended).store(0);
    }
    ending = kIsThere | (end.is_logged ? kIsLogged : 0) | end.others;
  }
  return {.is_logged = (ending & kIsLogged) != 0, .others = static_cast<std::uint32_t>(ending)};
}

bool NativeStates::tell_warp_barriers(const NativeQueue& queue, std::uint32_t warp,
                                      std::uint32_t number) const {
  if ((number & wire::kMostWarpBarriers) == 0) {
    return true;
  }
  auto& told = word_at<std::uint32_t>(wire::kToldBarriers + warp * 4);
  if (told >= number) {
    return true;
  }
  if (!wire::write_event(queue, {.kind = wire::RecordKind::kWarpBarriers,
                                 .site = states_.first_site,
                                 .warp = warp,
                                 .mask = ~0U,
                                 .detail = number})) {
    return false;
  }
  told = number;
  return true;
}

bool NativeStates::tell_own_barriers(const NativeQueue& queue, std::uint32_t interval) const {
  constexpr std::uint32_t kKinds = wire::kFrozen | wire::kCountsWarps;
  return (interval & kKinds) != wire::kCountsWarps ||
         tell_warp_barriers(
             queue, warp_,
             wire::told_number(interval & wire::kMostIntervals, wire::warp_bits(interval)));
}

bool NativeStates::gather(wire::EventRecord event, const NativeQueue& queue) const {
  std::uint64_t& bits = *reinterpret_cast<std::uint64_t*>(header_ + wire::kGatheredEvents);
  wire::GatheredEvents gathered(bits);
  const bool is_whole =
      event.mask == wire::lanes_of_warp(event.warp, threads_) && event.threads == 0;
  const wire::GatherStep step =
      gathered.add({.site = event.site, .detail = event.detail}, event.warp,
                   (threads_ + wire::kWarpLanes - 1) / wire::kWarpLanes, is_whole);
  if (step.outcome == wire::GatherStep::Outcome::kSingly) {
    for (; gathered.warps() != 0; gathered = gathered.without_first()) {
      const auto warp = static_cast<std::uint32_t>(std::countr_zero(gathered.warps()));
      if (!wire::write_event(queue, {.site = gathered.event().site,
                                     .warp = warp,
                                     .mask = wire::lanes_of_warp(warp, threads_),
                                     .detail = gathered.event().detail})) {
        return false;
      }
      bits = gathered.without_first().bits();
    }
  }
  if (step.outcome == wire::GatherStep::Outcome::kOfBlock &&
      (event.site & wire::kLeavesKernel) == 0) {
    if (is_logged() && !log_barrier(event, queue)) {
      return false;
    }
    bits = step.next.bits();
    return true;
  }
  if (step.outcome == wire::GatherStep::Outcome::kOfBlock) {
    event.kind = wire::RecordKind::kBlockEvent;
  }
  if (step.outcome != wire::GatherStep::Outcome::kKept && !wire::write_event(queue, event)) {
    return false;
  }
  bits = step.next.bits();
  return true;
}

bool NativeStates::log_kept(wire::WordState state, const wire::StateStep& step,
                            std::uint64_t offset, const LaneStep& lane,
                            const NativeQueue& queue) const {
  const wire::UniformValue stored{
      .value = step.has_same_value ? lane.value : wire::CopyRecord::of_kept(state, step).packed(),
      .known = step.has_same_value};
  for (std::uint32_t which = 0; which < 2; ++which) {
    const wire::KeptAccess kept = state.kept(which, lane.access.by.thread);
    const std::uint32_t site = states_.first_site + kept.site;
    const std::uint32_t number = wire::number_of_kept(state, which, wire::warp_bits(lane.interval));
    if ((step.kept >> which & 1) != 0 && !queue.is_quiet(site) &&
        (!tell_warp_barriers(queue, kept.thread / wire::kWarpLanes, number) ||
         !wire::write_past(queue,
                           {.site = site,
                            .interval = step.is_pending ? wire::kCopyPending : number,
                            .thread = kept.thread,
                            .address = wire::tagged_address(AddressSpace::kShared,
                                                            wire::begin_of(states_, kept, offset)),
                            .value = which == 0 ? stored : wire::UniformValue{}}))) {
      return false;
    }
  }
  return true;
}

bool NativeStates::tell_wait(const LaneStep& lane, const NativeQueue& queue) const {
  const std::uint32_t thread = lane.access.by.thread,
                      waited = wire::CopyProgress(progress_of(thread))
                                   .waited_in(lane.interval & wire::kMostIntervals);
  return waited == 0 ||
         wire::write_event(queue, {.kind = wire::RecordKind::kWarpBarriers,
                                   .site = states_.first_site,
                                   .warp = warp_,
                                   .mask = std::uint32_t{1} << thread % wire::kWarpLanes,
                                   .detail = wire::kHasWaited | waited});
}

std::optional<bool> NativeStates::take(std::uint64_t offset, const LaneStep& lane,
                                       const NativeQueue& queue) const {
  std::uint64_t& bits = *state_at(offset);
  const wire::WordState state(bits);
  const wire::StateStep step = wire::step_of_any(
      state, lane.interval, lane.access, [&](std::uint32_t thread) { return has_left(thread); },
      [&](std::uint32_t thread) { return wire::CopyProgress(progress_of(thread)); });
  const bool tells = step.logs && states_.keeps_copies != 0 &&
                     !queue.is_quiet(states_.first_site + lane.access.by.site);
  if ((tells && !tell_wait(lane, queue)) || !log_kept(state, step, offset, lane, queue)) {
    return std::nullopt;
  }
  bits = step.next.bits();
  return step.logs;
}

// If it is logged for one of its granules, so it is for all.
std::optional<bool> NativeStates::take_all(LaneStep lane, std::uint32_t bytes,
                                           const NativeQueue& queue) const {
  const std::uint64_t begin = lane.offset & ~(granule() - 1), end = lane.offset + bytes;
  bool logs = false;
  for (std::uint64_t at = begin; at < end; at += granule()) {
    const std::optional<bool> taken = take(at, lane, queue);
    if (!taken) {
      return std::nullopt;
    }
    if (*taken && !logs && begin + granule() < end && lane.access.use != wire::StateUse::kCopy) {
      lane.access.use = wire::StateUse::kLogged;
      at = begin - granule();  // once more
    }
    logs = logs || *taken;
  }
  return logs;
}

std::optional<std::uint32_t> NativeStates::follow(const NativeLanes& lanes, std::uint32_t site,
                                                  const LaneWords& addresses,
                                                  const LaneWords& intervals,
                                                  const wire::StoredValues<NativeLanes>& values,
                                                  const NativeQueue& queue) const {
  const std::uint32_t bytes = wire::bytes_at(site);
  const bool are_alike = values.are_known && lanes.all_store_alike(values);
  std::uint32_t logged = 0;
  bool has_room = true;
  lanes.for_each([&](std::uint32_t lane, std::uint32_t) {
    const std::uint64_t offset = wire::address_of(addresses[lane]);
    const std::uint32_t bit = std::uint32_t{1} << lane;
    if (!are_kept() || wire::space_of(addresses[lane]) != AddressSpace::kShared ||
        offset + bytes > states_.window) {
      logged |= bit;
      return;
    }
    LaneStep step{.offset = offset,
                  .interval = static_cast<std::uint32_t>(intervals[lane]),
                  .access = wire::state_access(states_, site, warp_ * wire::kWarpLanes + lane)};
    if (step.access.use == wire::StateUse::kWrite) {
      // Two lanes of one instruction in one word: their record says what is to be said of them.
      if (!lanes.is_alone(addresses, lane)) {
        step.access.use = wire::StateUse::kLogged;
      }
      step.value = wire::stored_value(values.low[lane], values.high[lane]);
      const bool is_known = are_alike || (step.access.is_replicated && values.are_known);
      step.access.value_mark = is_known ? wire::value_mark(step.value) : 0;
    }
    if (has_room) {
      const std::optional<bool> taken = take_all(step, bytes, queue);
      has_room = taken.has_value();
      logged |= taken.value_or(false) ? bit : 0;
    }
  });
  return has_room ? std::optional(logged) : std::nullopt;
}

// A copy that is taken twice would meet itself. So of one whose record finds no room the states are
// put back, and of the others it is noted that they are taken: nobody leaves a block that keeps
// copies before it is over, and the words for those who did serve for that.
bool NativeStates::copy(const NativeLanes& lanes, std::uint32_t site, const LaneWords& addresses,
                        const LaneWords& intervals, const LaneWords& groups,
                        const NativeQueue& queue) const {
  bool has_room = true;
  lanes.for_each([&](std::uint32_t lane, std::uint32_t) {
    const std::uint32_t bit = std::uint32_t{1} << lane;
    if (!has_room || (*mask_of(warp_) & bit) != 0) {
      return;
    }
    const std::uint32_t thread = warp_ * wire::kWarpLanes + lane;
    LaneStep step{.offset = wire::address_of(addresses[lane]),
                  .interval = static_cast<std::uint32_t>(intervals[lane]) & wire::kMostIntervals,
                  .access = wire::state_access(states_, site, thread)};
    step.access.use = wire::StateUse::kCopy;
    step.access.group = static_cast<std::uint32_t>(groups[lane]) & wire::kMostGroups;
    const std::uint32_t bytes = wire::bytes_at(site), id = site & (wire::kMaxSites - 1);
    const std::span states(state_at(step.offset), bytes >> states_.granule_log2);
    const std::vector<std::uint64_t> before(states.begin(), states.end());
    const wire::CopyRecord record{
        .group = step.access.group + 1,
        .waited = wire::CopyProgress(progress_of(thread)).waited_in(step.interval)};
    const std::optional<bool> logs = take_all(step, bytes, queue);
    has_room = logs && (!*logs || queue.is_quiet(id) ||
                        wire::write_past(queue, {.site = id,
                                                 .interval = wire::kCopyPending,
                                                 .thread = thread,
                                                 .address = addresses[lane],
                                                 .value = {.value = record.packed()}}));
    if (has_room) {
      *mask_of(warp_) |= bit;
    } else {
      std::ranges::copy(before, states.begin());
    }
  });
  return has_room;
}

void NativeStates::end_copies() const {
  *mask_of(warp_) = 0;
}

}  // namespace barracuda::session
