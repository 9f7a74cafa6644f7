#include "session/native_copies.h"

#include "device_logger/copy_states.h"
#include "device_logger/write_record.h"
#include "session/native_call.h"
#include "session/native_queue.h"
#include "session/native_states.h"

namespace barracuda::session {
namespace {

using emulator::NativeCall;
using emulator::NativeResult;

// The event of those that log what they commit and wait for: all where there are no states.
NativeResult log_groups(const NativeCall& call, const wire::LaunchDescriptor& descriptor,
                        const LaneWords& groups, const LaneWords& details) {
  const NativeQueue queue(descriptor, call);
  const bool are_kept = NativeStates(descriptor, call).are_kept();
  const std::uint32_t logged =
      are_kept ? NativeLanes(call.mask).which(groups,
                                              [](std::uint32_t, std::uint64_t of_lane) {
                                                return (of_lane & wire::kLogsGroups) != 0;
                                              })
               : call.mask;
  return for_each_site(call, logged, [&](const NativeLanes& same) {
    return wire::write_event(queue, {.site = site_of(call, same.leader),
                                     .warp = call.warp,
                                     .mask = same.mask,
                                     .detail = static_cast<std::uint32_t>(details[same.leader])});
  });
}

void set_groups(const NativeCall& call, const LaneWords& groups) {
  NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    call.result.store(static_cast<int>(lane), 0, groups[lane]);
  });
}

LaneWords after_commit(LaneWords groups) {
  for (std::uint64_t& of_lane : groups) {
    of_lane = wire::after_commit(static_cast<std::uint32_t>(of_lane));
  }
  return groups;
}

}  // namespace

NativeResult log_copy(const NativeCall& call) {
  const wire::LaunchDescriptor* const descriptor = descriptor_of(call);
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  LaneWords addresses;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    addresses[lane] = call.arguments[1].load<std::uint64_t>(static_cast<int>(lane));
  }
  const LaneWords intervals = words_of(call, 2), groups = words_of(call, 3);
  const NativeQueue queue(*descriptor, call);
  const NativeStates states(*descriptor, call);
  const NativeResult result = for_each_site(call, call.mask, [&](const NativeLanes& same) {
    const std::uint32_t site = site_of(call, same.leader);
    return states.are_kept()
               ? states.copy(same, site, addresses, intervals, groups, queue)
               : queue.is_quiet(site) || wire::write_access(queue, same, site, addresses, {});
  });
  if (states.are_kept() && result == NativeResult::kDone) {
    states.end_copies();
  }
  return result;
}

NativeResult commit_copies(const NativeCall& call) {
  const LaneWords groups = words_of(call, 1);
  set_groups(call, after_commit(groups));
  const wire::LaunchDescriptor* const descriptor = descriptor_of(call);
  return descriptor == nullptr ? NativeResult::kDone
                               : log_groups(call, *descriptor, groups, LaneWords{});
}

NativeResult wait_for_copies(const NativeCall& call) {
  const LaneWords left = words_of(call, 1), groups = words_of(call, 2),
                  intervals = words_of(call, 3), committed = after_commit(groups);
  LaneWords after = groups;
  NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    after[lane] = left[lane] == wire::kWaitAll ? committed[lane] : groups[lane];
  });
  set_groups(call, after);
  const wire::LaunchDescriptor* const descriptor = descriptor_of(call);
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const NativeStates states(*descriptor, call);
  if (states.are_kept()) {
    NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
      const std::uint32_t pending =
          left[lane] == wire::kWaitAll ? 0 : static_cast<std::uint32_t>(left[lane]);
      states.wait_for(lane, wire::groups_over(static_cast<std::uint32_t>(after[lane]), pending),
                      static_cast<std::uint32_t>(intervals[lane]));
    });
  }
  return log_groups(call, *descriptor, groups, left);
}

}  // namespace barracuda::session
