#include "session/native_logger.h"

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "device_logger/launch_descriptor.h"
#include "device_logger/symbols.h"
#include "device_logger/write_record.h"
#include "session/native_call.h"
#include "session/native_copies.h"
#include "session/native_lanes.h"
#include "session/native_owners.h"
#include "session/native_queue.h"
#include "session/native_states.h"
#include "session/native_texels.h"

namespace barracuda::session {

namespace {

using emulator::GenericPlace;
using emulator::NativeCall;
using emulator::NativeResult;
using wire::AddressSpace;
using wire::kNoAddress;
using wire::kNoSlot;
using wire::RecordKind;

using StoredValues = wire::StoredValues<NativeLanes>;

std::uint64_t tagged(const NativeCall& call, std::uint64_t generic) {
  const GenericPlace place = call.place_of(generic);
  switch (place.space) {
    case GenericPlace::Space::kGlobal:
      return generic;
    case GenericPlace::Space::kShared:
      return place.rank == call.rank
                 ? wire::tagged_address(AddressSpace::kShared, place.offset)
                 : wire::tagged_address(AddressSpace::kSharedCluster,
                                        std::uint64_t{place.rank} << 32 | place.offset);
    case GenericPlace::Space::kOther:
      break;
  }
  return kNoAddress;
}

// Argument 1, tagged; lanes without an address are taken from `mask`.
LaneWords addresses_of(const NativeCall& call, bool generic, std::uint32_t& mask) {
  LaneWords addresses;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    addresses[lane] = call.arguments[1].load<std::uint64_t>(static_cast<int>(lane));
  }
  NativeLanes(mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    if (generic) {
      addresses[lane] = tagged(call, addresses[lane]);
    }
    mask &= addresses[lane] == kNoAddress ? ~(1U << lane) : ~0U;
  });
  return addresses;
}

bool is_global(std::uint64_t address) {
  return wire::space_of(address) == AddressSpace::kGlobal;
}

// --- memory that is not logged ---

wire::JudgedAccess judge_access(const wire::LaunchDescriptor& descriptor, std::uint32_t site,
                                std::uint64_t address, wire::AccessUse use) {
  const wire::UnloggedMemory& unlogged = descriptor.unlogged;
  const wire::OwnedSites& sites = descriptor.owned_sites;
  const auto range_at = [&](std::uint32_t i) { return unlogged.ranges[i]; };
  const auto is_owner = [&](std::uint32_t range) {
    return wire::is_owner([&](std::uint32_t i) { return sites.ranges[i]; }, sites.first, site,
                          range);
  };
  const wire::UnloggedCounts counts{
      .count = unlogged.count, .owned = unlogged.owned, .watched = unlogged.watched};
  const wire::JudgedAccess judged =
      wire::judge_unlogged(range_at, is_owner, counts, wire::bytes_at(site), address, use);
  if (judged.decision == wire::LogDecision::kWrites) {
    std::uint32_t& written = const_cast<std::uint32_t&>(unlogged.written);  // NOLINT: the device's
    std::atomic_ref(written).store(1, std::memory_order_relaxed);
  }
  return judged;
}

// The lanes of `mask` whose accesses are logged.
std::uint32_t logged_lanes(const NativeCall& call, const wire::LaunchDescriptor& descriptor,
                           const LaneWords& addresses, std::uint32_t mask) {
  std::uint32_t logged = mask;
  if (descriptor.unlogged.count == 0) {
    return logged;
  }
  NativeLanes(mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    const std::uint32_t site = site_of(call, lane);
    if (is_global(addresses[lane]) &&
        judge_access(descriptor, site, addresses[lane], wire::access_use(site)).decision ==
            wire::LogDecision::kLeftOut) {
      logged &= ~(1U << lane);
    }
  });
  return logged;
}

// --- accesses ---

// The arguments from `first` on are stored values, if there are any.
StoredValues values_of(const NativeCall& call, std::size_t first) {
  StoredValues values;
  values.are_known = call.arguments.size() > first;
  values.are_wide = call.arguments.size() > first + 1;
  for (std::uint32_t lane = 0; values.are_known && lane < wire::kWarpLanes; ++lane) {
    const int i = static_cast<int>(lane);
    values.low[lane] = call.arguments[first].load<std::uint64_t>(i);
    values.high[lane] = values.are_wide ? call.arguments[first + 1].load<std::uint64_t>(i) : 0;
  }
  return values;
}

// Lanes from different sites at once are only made by tests: with a queue that is full between the
// two, the first record comes twice, which is an access that happened.
// The stored values, if there are any, are the arguments from kValues on.
template <bool Generic, std::size_t kValues = 2>
NativeResult access(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  std::uint32_t mask = call.mask;
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const LaneWords addresses = addresses_of(call, Generic, mask);
  mask = logged_lanes(call, *descriptor, addresses, mask);
  if (mask == 0) {
    return NativeResult::kDone;
  }
  const StoredValues values = values_of(call, kValues);
  const NativeQueue queue(*descriptor, call);
  return for_each_site(call, mask, [&](const NativeLanes& same) {
    const std::uint32_t site = site_of(call, same.leader);
    return queue.is_quiet(site) || wire::write_access(queue, same, site, addresses, values);
  });
}

// site, address: whether no lane's access is logged
template <bool Generic>
NativeResult leaves_out(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  std::uint32_t mask = call.mask;
  bool none = true;
  if (descriptor != nullptr && descriptor->unlogged.count == 0) {
    none = false;
  } else if (descriptor != nullptr) {
    const LaneWords addresses = addresses_of(call, Generic, mask);
    none = logged_lanes(call, *descriptor, addresses, mask) == 0;
  }
  set_results(call, call.mask, none ? 1 : 0);
  return NativeResult::kDone;
}

// --- states of words ---

class FollowedAccess {
 public:
  // site, address, interval, what is stored: whether it need not be logged. What comes before it is
  // logged here, where a GPU leaves that to the hooks of followed accesses.
  template <bool Generic>
  static NativeResult keep(const NativeCall& call) {
    const wire::LaunchDescriptor* descriptor = descriptor_of(call);
    set_results(call, call.mask, 1);
    if (descriptor == nullptr) {
      return NativeResult::kDone;
    }
    std::uint32_t mask = call.mask;
    const LaneWords addresses = addresses_of(call, Generic, mask);
    const FollowedAccess access(*descriptor, call, addresses);
    return for_each_site(call, mask, [&](const NativeLanes& same) {
      const std::optional<std::uint32_t> logged = access.follow(same, site_of(call, same.leader));
      set_results(call, logged.value_or(0), 0);
      return logged && (*logged == 0 || access.tell_barriers(same));
    });
  }

  // A load that is logged: of one in a read-only interval nobody has asked before, and what comes
  // before it is logged now. Where it was asked, nothing is left of that.
  template <bool Generic>
  static NativeResult log(const NativeCall& call) {
    const wire::LaunchDescriptor* descriptor = descriptor_of(call);
    if (descriptor == nullptr) {
      return NativeResult::kDone;
    }
    const LaneWords intervals = words_of(call, 2);
    std::uint32_t frozen = 0;
    NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
      frozen |= (intervals[lane] & wire::kFrozen) != 0 ? std::uint32_t{1} << lane : 0;
    });
    if (frozen != 0) {
      std::uint32_t mask = call.mask;
      const LaneWords addresses = addresses_of(call, Generic, mask);
      const FollowedAccess access(*descriptor, call, addresses);
      const NativeResult followed =
          for_each_site(call, mask & frozen, [&](const NativeLanes& same) {
            return access.follow(same, site_of(call, same.leader)).has_value();
          });
      if (followed != NativeResult::kDone) {
        return followed;
      }
    }
    return access<Generic, 3>(call);
  }

 private:
  FollowedAccess(const wire::LaunchDescriptor& descriptor, const NativeCall& call,
                 const LaneWords& addresses)
      : descriptor_(descriptor),
        addresses_(addresses),
        intervals_(words_of(call, 2)),
        values_(values_of(call, 3)),
        queue_(descriptor, call),
        states_(descriptor, call),
        owners_(descriptor, call, states_) {}

  [[nodiscard]] bool tell_barriers(const NativeLanes& lanes) const {
    return states_.tell_own_barriers(queue_, static_cast<std::uint32_t>(intervals_[lanes.leader]));
  }

  // Those of these lanes whose accesses are logged; nothing if the queue has no room.
  [[nodiscard]] std::optional<std::uint32_t> follow(const NativeLanes& lanes,
                                                    std::uint32_t site) const {
    std::uint32_t in_states = 0, watched = 0, logged = 0;
    LaneWords offsets{};
    lanes.for_each([&](std::uint32_t lane, std::uint32_t) {
      const std::uint32_t bit = std::uint32_t{1} << lane;
      if (!is_global(addresses_[lane])) {
        in_states |= bit;
        return;
      }
      const wire::JudgedAccess judged =
          judge_access(descriptor_, site, addresses_[lane], wire::access_use(site));
      offsets[lane] = judged.offset;
      watched |= judged.decision == wire::LogDecision::kWatched ? bit : 0;
      logged |= judged.decision == wire::LogDecision::kLogged ||
                        judged.decision == wire::LogDecision::kWrites
                    ? bit
                    : 0;
    });
    std::optional<std::uint32_t> more = 0;
    if (in_states != 0) {
      more = states_.follow(NativeLanes(in_states), site, addresses_, intervals_, values_, queue_);
      logged |= more.value_or(0);
    }
    if (more && watched != 0) {
      more = owners_.follow(NativeLanes(watched), site, addresses_, offsets, intervals_, values_,
                            queue_);
      logged |= more.value_or(0);
    }
    if (queue_.is_quiet(site)) {
      logged = 0;
    }
    return more ? std::optional(logged) : std::nullopt;
  }

  const wire::LaunchDescriptor& descriptor_;
  const LaneWords& addresses_;
  const LaneWords intervals_;
  const StoredValues values_;
  const NativeQueue queue_;
  const NativeStates states_;
  const NativeOwners owners_;
};

// site, interval
NativeResult tell_barriers(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const auto interval =
      static_cast<std::uint32_t>(words_of(call, 1)[NativeLanes(call.mask).leader]);
  return NativeStates(*descriptor, call).tell_own_barriers(NativeQueue(*descriptor, call), interval)
             ? NativeResult::kDone
             : NativeResult::kTryAgain;
}

NativeResult begin_block(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  const std::uint32_t first = NativeLanes(call.mask).leader;
  const bool meets =
      descriptor != nullptr &&
      NativeStates::begin(*descriptor, call,
                          call.arguments[0].load<std::uint32_t>(static_cast<int>(first)));
  set_results(call, call.mask, meets ? 1 : 0);
  return NativeResult::kDone;
}

// With kBeginsAgain by all threads of the block together, none of which has left.
template <bool kBeginsAgain>
NativeResult next_interval(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    const int i = static_cast<int>(lane);
    const auto interval = call.arguments[0].load<std::uint32_t>(i);
    std::uint64_t next = wire::kFrozen;
    if (descriptor != nullptr) {
      const NativeStates states(*descriptor, call);
      if (kBeginsAgain && states.are_kept() && wire::ends_round(interval)) {
        states.forget();
        next = wire::kAllMeet | wire::kFirstOfRound;
      } else if (states.are_kept()) {
        next = states.next(interval);
      }
    }
    call.result.store(i, 0, next);
  });
  return NativeResult::kDone;
}

// Whether a barrier has to be logged, before all threads of the block come to it.
NativeResult logs_barrier(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  bool logs = false;
  if (descriptor != nullptr) {
    const NativeStates states(*descriptor, call);
    logs = !states.are_kept() || states.is_logged();
  }
  set_results(call, call.mask, logs ? 1 : 0);
  return NativeResult::kDone;
}

// Here the event itself counts who leaves: one thread runs the whole warp, and registers are no
// matter.
NativeResult logs_exit(const NativeCall& call) {
  set_results(call, call.mask, descriptor_of(call) != nullptr ? 1 : 0);
  return NativeResult::kDone;
}

// --- releases ---

// What a release takes before its access and needs again after it, in pieces of 8 bytes.
void set_token(const NativeCall& call, std::uint32_t lane, std::uint64_t slot,
               std::uint64_t address, std::uint64_t number) {
  const int i = static_cast<int>(lane);
  call.result.store(i, 0, slot);
  call.result.store(i, 1, address);
  call.result.store(i, 2, number);
}

// The header must come last where it is the flag, so there every lane has a record of its own.
void begin_record(const NativeCall& call, const NativeQueue& queue, std::uint64_t slot,
                  const NativeLanes& lanes) {
  if (!queue.fence_and_flag()) {
    wire::write_entry_header(queue, slot, site_of(call, lanes.leader), RecordKind::kRelease,
                             lanes.mask);
  }
  const std::uint64_t stride = queue.fence_and_flag() ? 3 : 2;
  lanes.for_each([&](std::uint32_t lane, std::uint32_t rank) {
    call.result.store(static_cast<int>(lane), 0, slot + 1 + stride * rank);
  });
}

// Slots of the record, or records, of lanes of one site.
std::uint32_t release_slots(const NativeQueue& queue, const NativeLanes& lanes) {
  return queue.fence_and_flag() ? 3 * lanes.count()
                                : wire::record_slots(RecordKind::kRelease, lanes.count());
}

// Of lanes, those whose sites are logged.
std::uint32_t without_quiet(const NativeCall& call, const NativeQueue& queue, std::uint32_t mask) {
  std::uint32_t logged = mask;
  for_each_site(call, mask, [&](const NativeLanes& same) {
    logged &= queue.is_quiet(site_of(call, same.leader)) ? ~same.mask : ~0U;
    return true;
  });
  return logged;
}

template <bool Generic>
NativeResult release_begin(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  std::uint32_t mask = call.mask;
  const LaneWords addresses = addresses_of(call, Generic, mask);
  if (descriptor == nullptr || mask == 0) {
    NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
      set_token(call, lane, kNoSlot, addresses[lane], 0);
    });
    return NativeResult::kDone;
  }
  NativeLanes(mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    judge_access(*descriptor, site_of(call, lane), addresses[lane], wire::AccessUse::kWrite);
  });
  // Records of several sites are claimed at once, and begun only then.
  const NativeQueue queue(*descriptor, call);
  mask = without_quiet(call, queue, mask);
  std::uint32_t slots = 0;
  for_each_site(call, mask, [&](const NativeLanes& same) {
    slots += release_slots(queue, same);
    return true;
  });
  std::uint64_t slot = queue.claim(slots);
  if (slot == kNoSlot) {
    return NativeResult::kTryAgain;
  }
  NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    const bool is_numbered = (mask >> lane & 1) != 0 && is_global(addresses[lane]);
    set_token(call, lane, kNoSlot, addresses[lane],
              is_numbered ? queue.take_order_number(addresses[lane]) : 0);
  });
  return for_each_site(call, mask, [&](const NativeLanes& same) {
    begin_record(call, queue, slot, same);
    slot += release_slots(queue, same);
    return true;
  });
}

// site, slot, address, number with the lane flags above it, value read, value written
NativeResult release_end(const NativeCall& call) {
  NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    const auto argument = [&](std::size_t number) {
      return call.arguments[number].load<std::uint64_t>(static_cast<int>(lane));
    };
    if (argument(1) != kNoSlot) {
      wire::write_release(NativeQueue(*descriptor_of(call), call), argument(1), site_of(call, lane),
                          lane, argument(2), argument(3), argument(4), argument(5));
    }
  });
  return NativeResult::kDone;
}

// --- acquires and events ---

template <bool Generic>
NativeResult acquire(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  std::uint32_t mask = call.mask;
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const LaneWords addresses = addresses_of(call, Generic, mask);
  const NativeQueue queue(*descriptor, call);
  LaneWords values{}, flags{}, stamps{};
  NativeLanes(mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    const int i = static_cast<int>(lane);
    values[lane] = call.arguments[2].load<std::uint64_t>(i);
    flags[lane] = call.arguments[3].load<std::uint32_t>(i);
    if (is_global(addresses[lane])) {
      judge_access(*descriptor, site_of(call, lane), addresses[lane], wire::AccessUse::kStrongRead);
      stamps[lane] = queue.order_number(addresses[lane]);
    }
  });
  return for_each_site(call, without_quiet(call, queue, mask), [&](const NativeLanes& same) {
    return wire::write_acquire(queue, same, site_of(call, same.leader), addresses, values, flags,
                               stamps);
  });
}

// False if the queue has no room.
bool log_event(const NativeStates& states, const wire::EventRecord& event,
               const NativeQueue& queue) {
  if (!states.are_kept() || (event.site & wire::kOfWholeBlock) == 0) {
    return wire::write_event(queue, event);
  }
  if ((event.site & wire::kCounted) == 0) {
    return states.gather(event, queue);
  }
  if ((event.site & wire::kLeavesKernel) != 0) {
    return states.count_exit(event, queue);
  }
  return event.warp != 0 || states.log_barrier(event, queue);
}

// site, barrier's id or warp barrier's mask, threads
NativeResult event(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const NativeQueue queue(*descriptor, call);
  const NativeStates states(*descriptor, call);
  const auto word = [&](std::size_t argument, std::uint32_t lane) {
    return call.arguments[argument].load<std::uint32_t>(static_cast<int>(lane));
  };
  for (std::uint32_t mask = call.mask; mask != 0;) {
    const NativeLanes at_site = lanes_of_first_site(call, mask);
    const std::uint32_t leader = at_site.leader;
    std::uint32_t same = 0;  // lanes may name different barriers or masks: a record has one
    at_site.for_each([&](std::uint32_t lane, std::uint32_t) {
      const bool is_same = word(1, lane) == word(1, leader) && word(2, lane) == word(2, leader);
      same |= is_same ? std::uint32_t{1} << lane : 0;
    });
    std::uint32_t detail = word(1, leader);
    const std::uint32_t site = site_of(call, leader);
    if ((site & wire::kLeavesKernel) != 0) {
      if (states.are_kept() && (site & wire::kCounted) == 0) {
        states.leave(same, detail);
      }
      detail = states.are_kept() ? 1 : 0;
    }
    const wire::EventRecord event{.site = site,
                                  .warp = call.warp,
                                  .mask = same,
                                  .detail = detail,
                                  .threads = word(2, leader)};
    if (!log_event(states, event, queue)) {
      return NativeResult::kTryAgain;
    }
    mask &= ~same;
  }
  return NativeResult::kDone;
}

// The same of sites that may be quiet.
NativeResult optional_event(const NativeCall& call) {
  const wire::LaunchDescriptor* const descriptor = descriptor_of(call);
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  NativeCall logged = call;
  logged.mask = without_quiet(call, NativeQueue(*descriptor, call), call.mask);
  return logged.mask == 0 ? NativeResult::kDone : event(logged);
}

// Lanes in lockstep go on once all are here.
NativeResult meet(const NativeCall& call) {
  std::uint32_t members = 0;
  NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    members |= call.arguments[1].load<std::uint32_t>(static_cast<int>(lane));
  });
  return call.waits_for(members) ? NativeResult::kTryAgain : event(call);
}

using Execute = NativeResult (*)(const NativeCall&);

constexpr emulator::NativeFunction hook(std::string_view name, std::size_t arguments,
                                        Execute execute) {
  return {.name = name,
          .shared_variable = wire::kBlockWords,
          .arguments = arguments,
          .execute = execute};
}

constexpr std::array kHooks = {
    hook("__barracuda_access", 2, &access<false>),
    hook("__barracuda_access_generic", 2, &access<true>),
    hook("__barracuda_store", 3, &access<false>),
    hook("__barracuda_store_generic", 3, &access<true>),
    hook("__barracuda_store_wide", 4, &access<false>),
    hook("__barracuda_store_wide_generic", 4, &access<true>),
    hook("__barracuda_leaves_out", 2, &leaves_out<false>),
    hook("__barracuda_leaves_out_generic", 2, &leaves_out<true>),
    hook("__barracuda_owns", 3, &FollowedAccess::keep<false>),
    hook("__barracuda_owns_store", 5, &FollowedAccess::keep<false>),
    hook("__barracuda_keep_access", 3, &FollowedAccess::keep<false>),
    hook("__barracuda_keep_access_generic", 3, &FollowedAccess::keep<true>),
    hook("__barracuda_keep_load", 3, &FollowedAccess::keep<false>),
    hook("__barracuda_keep_load_generic", 3, &FollowedAccess::keep<true>),
    hook("__barracuda_keep_reduction", 3, &FollowedAccess::keep<false>),
    hook("__barracuda_keep_reduction_generic", 3, &FollowedAccess::keep<true>),
    hook("__barracuda_keep_store", 5, &FollowedAccess::keep<false>),
    hook("__barracuda_keep_store_generic", 5, &FollowedAccess::keep<true>),
    hook("__barracuda_tell_barriers", 2, &tell_barriers),
    hook("__barracuda_log_states", 3, &FollowedAccess::keep<false>),
    hook("__barracuda_log_states_generic", 3, &FollowedAccess::keep<true>),
    hook("__barracuda_log_owners", 3, &FollowedAccess::keep<false>),
    hook("__barracuda_followed_access", 3, &FollowedAccess::log<false>),
    hook("__barracuda_followed_access_generic", 3, &FollowedAccess::log<true>),
    hook("__barracuda_followed_global_access", 3, &FollowedAccess::log<false>),
    hook("__barracuda_followed_global_store", 5, &access<false, 3>),
    hook("__barracuda_followed_store", 5, &access<false, 3>),
    hook("__barracuda_followed_store_generic", 5, &access<true, 3>),
    hook("__barracuda_begin_block", 1, &begin_block),
    hook("__barracuda_next_interval", 1, &next_interval<false>),
    hook("__barracuda_count_interval", 1, &next_interval<true>),
    hook("__barracuda_logs_barrier", 0, &logs_barrier),
    hook("__barracuda_logs_exit", 0, &logs_exit),
    hook("__barracuda_copy", 4, &log_copy),
    hook("__barracuda_commit_copies", 2, &commit_copies),
    hook("__barracuda_wait_copies", 4, &wait_for_copies),
    hook("__barracuda_release_begin", 2, &release_begin<false>),
    hook("__barracuda_release_begin_generic", 2, &release_begin<true>),
    hook("__barracuda_release_end", 6, &release_end),
    hook("__barracuda_acquire", 4, &acquire<false>),
    hook("__barracuda_acquire_generic", 4, &acquire<true>),
    hook("__barracuda_event", 3, &event),
    hook("__barracuda_optional_event", 3, &optional_event),
    hook("__barracuda_meet", 3, &meet),
    hook(wire::kTexelsHook, 7, &log_texels),
};

}  // namespace

std::span<const emulator::NativeFunction> native_logger() {
  return kHooks;
}

}  // namespace barracuda::session
