#include "session/native_logger.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "device_logger/launch_descriptor.h"
#include "device_logger/record.h"
#include "device_logger/site_word.h"
#include "device_logger/symbols.h"
#include "session/native_pattern.h"
#include "session/native_queue.h"

namespace barracuda::session {

namespace {

using emulator::GenericPlace;
using emulator::NativeCall;
using emulator::NativeResult;
using wire::AddressSpace;
using wire::RecordKind;

// What a lane has instead of an address if it touches memory that no other thread sees.
constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};
constexpr std::uint64_t kNoSlot = ~std::uint64_t{0};

const wire::LaunchDescriptor* descriptor_of(const NativeCall& call) {
  std::uint64_t address = 0;
  std::memcpy(&address, call.shared_variable, sizeof address);
  // A device address is a host address on the emulated device.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<const wire::LaunchDescriptor*>(address);
}

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
  for_each_lane(mask, [&](std::uint32_t lane, std::uint32_t) {
    if (generic) {
      addresses[lane] = tagged(call, addresses[lane]);
    }
    mask &= addresses[lane] == kNoAddress ? ~(1U << lane) : ~0U;
  });
  return addresses;
}

std::uint32_t site_of(const NativeCall& call, std::uint32_t lane) {
  return call.arguments[0].load<std::uint32_t>(static_cast<int>(lane));
}

// The lanes of `mask` that call from the first one's site.
std::uint32_t lanes_of_first_site(const NativeCall& call, std::uint32_t mask) {
  const std::uint32_t site = site_of(call, static_cast<std::uint32_t>(std::countr_zero(mask)));
  std::uint32_t same = 0;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    same |= static_cast<std::uint32_t>(site_of(call, lane) == site) << lane;
  }
  return same & mask;
}

bool is_global(std::uint64_t address) {
  return wire::space_of(address) == AddressSpace::kGlobal;
}

// --- accesses ---

struct Agreement {
  bool all = false;            // every lane stores the same value
  std::uint32_t overlaps = 0;  // lanes that store the same value as those at their address
};

struct StoredValues {
  bool known = false;
  LaneWords low = {}, high = {};
};

StoredValues values_of(const NativeCall& call) {
  StoredValues values;
  values.known = call.arguments.size() > 2;
  for (std::uint32_t lane = 0; values.known && lane < wire::kWarpLanes; ++lane) {
    const int i = static_cast<int>(lane);
    values.low[lane] = call.arguments[2].load<std::uint64_t>(i);
    values.high[lane] = call.arguments.size() > 3 ? call.arguments[3].load<std::uint64_t>(i) : 0;
  }
  return values;
}

Agreement find_agreement(const LaneWords& addresses, std::uint32_t mask, const StoredValues& values,
                         const AddressPattern& pattern) {
  Agreement agreement;
  if (!values.known) {
    return agreement;
  }
  const auto differ_from = [&](std::uint32_t other) {
    std::uint32_t differ = 0;
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      differ |= static_cast<std::uint32_t>(values.low[lane] != values.low[other] ||
                                           values.high[lane] != values.high[other])
                << lane;
    }
    return differ & mask;
  };
  agreement.all = differ_from(ActiveLanes{mask}.leader()) == 0;
  if (agreement.all) {
    agreement.overlaps = mask;
  } else if (!pattern.found || (pattern.may_overlap && pattern.width_log2 != 5)) {
    for (std::uint32_t rest = mask; rest != 0;) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(rest));
      std::uint32_t group = 0;
      for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
        group |= static_cast<std::uint32_t>(addresses[lane] == addresses[first]) << lane;
      }
      group &= mask;
      agreement.overlaps |= (differ_from(first) & group) == 0 ? group : 0;
      rest &= ~group;
    }
  }
  return agreement;
}

// What all lanes store, if that is one value.
using UniformValue = std::optional<std::uint64_t>;  // wire::stored_value

std::uint32_t flag_of(const UniformValue& uniform) {
  return uniform ? wire::kUniformValue : 0U;
}

bool write_scattered(const NativeQueue& queue, std::uint32_t site, std::uint32_t mask,
                     const LaneWords& addresses, std::uint32_t agrees,
                     const UniformValue& uniform) {
  const std::uint32_t count = ActiveLanes{mask}.count();
  const auto slot = queue.claim(wire::record_slots(RecordKind::kScattered, count));
  if (!slot) {
    return false;
  }
  for_each_lane(mask, [&](std::uint32_t lane, std::uint32_t rank) {
    queue.write_value(*slot + 1 + rank / 2, rank % 2, addresses[lane],
                      (agrees >> lane & 1) != 0 ? wire::kLaneAgrees : 0U);
  });
  if (count % 2 != 0) {
    queue.write_half(*slot + 1 + count / 2, 1, {});
  }
  const std::uint64_t value = uniform.value_or(0);
  queue.write_pattern(*slot, {.base = value & 0xFFFFFFFF,
                              .flags = flag_of(uniform),
                              .stride1 = static_cast<std::uint32_t>(value >> 32)});
  queue.write_header(*slot, {.site = site, .kind = RecordKind::kScattered, .mask = mask});
  return true;
}

bool write_affine(const NativeQueue& queue, std::uint32_t site, std::uint32_t mask,
                  const AddressPattern& pattern, std::uint32_t flags, const UniformValue& uniform) {
  // A value that stride1 has no room for takes a slot of its own.
  const bool fits = pattern.width_log2 == 5 && (site >> wire::kSizeShift & 7) <= 2;
  const bool has_slot = uniform && !fits;
  const auto slot = queue.claim(has_slot ? 2 : 1);
  if (!slot) {
    return false;
  }
  if (has_slot) {
    queue.write_value(*slot + 1, 0, *uniform);
    queue.write_value(*slot + 1, 1, 0);
  }
  queue.write_pattern(*slot,
                      {.stride0 = static_cast<std::uint32_t>(pattern.stride0),
                       .base = pattern.base,
                       .flags = flags | flag_of(uniform),
                       .stride1 = uniform && fits ? static_cast<std::uint32_t>(*uniform)
                                                  : static_cast<std::uint32_t>(pattern.stride1)});
  queue.write_header(*slot, {.site = site,
                             .kind = has_slot ? RecordKind::kAffineValue : RecordKind::kAffine,
                             .width_log2 = pattern.width_log2,
                             .mask = mask});
  return true;
}

bool log_access(const NativeQueue& queue, std::uint32_t site, std::uint32_t mask,
                const LaneWords& addresses, const StoredValues& values) {
  const AddressPattern pattern = find_pattern(addresses, ActiveLanes{mask});
  Agreement agreement = find_agreement(addresses, mask, values, pattern);
  if ((site & wire::kConstantValue) != 0) {
    agreement.overlaps = mask;
  }
  UniformValue uniform;
  if (agreement.all) {
    const std::uint32_t leader = ActiveLanes{mask}.leader();
    uniform = wire::stored_value(values.low[leader], values.high[leader]);
  }
  if (!pattern.found) {
    return write_scattered(queue, site, mask, addresses, agreement.overlaps, uniform);
  }
  return write_affine(queue, site, mask, pattern,
                      agreement.overlaps == mask ? wire::kLanesAgree : 0U, uniform);
}

// Lanes from different sites at once are only made by tests: with a queue that is full between the
// two, the first record comes twice, which is an access that happened.
template <bool Generic>
NativeResult access(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  std::uint32_t mask = call.mask;
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const LaneWords addresses = addresses_of(call, Generic, mask);
  const StoredValues values = values_of(call);
  const NativeQueue queue(*descriptor, call);
  while (mask != 0) {
    const std::uint32_t same = lanes_of_first_site(call, mask);
    const std::uint32_t site = site_of(call, ActiveLanes{same}.leader());
    if (!log_access(queue, site, same, addresses, values)) {
      return NativeResult::kTryAgain;
    }
    mask &= ~same;
  }
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
void begin_record(const NativeCall& call, const NativeQueue& queue, std::uint32_t site,
                  std::uint64_t slot, std::uint32_t mask) {
  if (!queue.fence_and_flag()) {
    queue.write_pattern(slot, {});
    queue.write_header(slot, {.site = site, .kind = RecordKind::kRelease, .mask = mask});
  }
  const std::uint64_t stride = queue.fence_and_flag() ? 3 : 2;
  for_each_lane(mask, [&](std::uint32_t lane, std::uint32_t rank) {
    call.result.store(static_cast<int>(lane), 0, slot + 1 + stride * rank);
  });
}

// Slots of the record, or records, of lanes of one site.
std::uint32_t release_slots(const NativeQueue& queue, std::uint32_t mask) {
  const std::uint32_t count = ActiveLanes{mask}.count();
  return queue.fence_and_flag() ? 3 * count : wire::record_slots(RecordKind::kRelease, count);
}

template <bool Generic>
NativeResult release_begin(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  std::uint32_t mask = call.mask;
  const LaneWords addresses = addresses_of(call, Generic, mask);
  if (descriptor == nullptr || mask == 0) {
    for_each_lane(call.mask, [&](std::uint32_t lane, std::uint32_t) {
      set_token(call, lane, kNoSlot, addresses[lane], 0);
    });
    return NativeResult::kDone;
  }
  // Records of several sites are claimed at once, and begun only then.
  const NativeQueue queue(*descriptor, call);
  std::uint32_t slots = 0;
  for (std::uint32_t rest = mask; rest != 0;) {
    const std::uint32_t same = lanes_of_first_site(call, rest);
    slots += release_slots(queue, same);
    rest &= ~same;
  }
  const auto claimed = queue.claim(slots);
  if (!claimed) {
    return NativeResult::kTryAgain;
  }
  for_each_lane(call.mask, [&](std::uint32_t lane, std::uint32_t) {
    const bool is_numbered = (mask >> lane & 1) != 0 && is_global(addresses[lane]);
    set_token(call, lane, kNoSlot, addresses[lane],
              is_numbered ? queue.take_order_number(addresses[lane]) : 0);
  });
  std::uint64_t slot = *claimed;
  while (mask != 0) {
    const std::uint32_t same = lanes_of_first_site(call, mask);
    begin_record(call, queue, site_of(call, ActiveLanes{same}.leader()), slot, same);
    slot += release_slots(queue, same);
    mask &= ~same;
  }
  return NativeResult::kDone;
}

// site, slot, address, number with the lane flags above it, value read, value written
NativeResult release_end(const NativeCall& call) {
  for_each_lane(call.mask, [&](std::uint32_t lane, std::uint32_t) {
    const auto argument = [&](std::size_t number) {
      return call.arguments[number].load<std::uint64_t>(static_cast<int>(lane));
    };
    const std::uint64_t slot = argument(1);
    if (slot == kNoSlot) {
      return;
    }
    const NativeQueue queue(*descriptor_of(call), call);
    queue.write_value(slot, 0, argument(2), static_cast<std::uint32_t>(argument(3) >> 32),
                      static_cast<std::uint32_t>(argument(3)));
    queue.write_value(slot, 1, argument(4));
    queue.write_value(slot + 1, 0, argument(5));
    queue.write_value(slot + 1, 1, 0);
    if (queue.fence_and_flag()) {
      queue.write_pattern(slot - 1, {});
      queue.write_header(
          slot - 1,
          {.site = site_of(call, lane), .kind = RecordKind::kRelease, .mask = 1U << lane});
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
  LaneWords stamps{};
  for_each_lane(mask, [&](std::uint32_t lane, std::uint32_t) {
    stamps[lane] = is_global(addresses[lane]) ? queue.order_number(addresses[lane]) : 0;
  });
  while (mask != 0) {
    const std::uint32_t same = lanes_of_first_site(call, mask);
    const auto slot =
        queue.claim(wire::record_slots(RecordKind::kAcquire, ActiveLanes{same}.count()));
    if (!slot) {
      return NativeResult::kTryAgain;
    }
    for_each_lane(same, [&](std::uint32_t lane, std::uint32_t rank) {
      const int i = static_cast<int>(lane);
      queue.write_value(*slot + 1 + rank, 0, addresses[lane],
                        call.arguments[3].load<std::uint32_t>(i),
                        static_cast<std::uint32_t>(stamps[lane]));
      queue.write_value(*slot + 1 + rank, 1, call.arguments[2].load<std::uint64_t>(i));
    });
    queue.write_pattern(*slot, {});
    queue.write_header(*slot, {.site = site_of(call, ActiveLanes{same}.leader()),
                               .kind = RecordKind::kAcquire,
                               .mask = same});
    mask &= ~same;
  }
  return NativeResult::kDone;
}

// site, barrier's id or warp barrier's mask, threads
NativeResult event(const NativeCall& call) {
  const wire::LaunchDescriptor* descriptor = descriptor_of(call);
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const NativeQueue queue(*descriptor, call);
  const auto word = [&](std::size_t argument, std::uint32_t lane) {
    return call.arguments[argument].load<std::uint32_t>(static_cast<int>(lane));
  };
  for (std::uint32_t mask = call.mask; mask != 0;) {
    const std::uint32_t at_site = lanes_of_first_site(call, mask);
    const std::uint32_t leader = ActiveLanes{at_site}.leader();
    std::uint32_t same = 0;  // lanes may name different barriers or masks: a record has one
    for_each_lane(at_site, [&](std::uint32_t lane, std::uint32_t) {
      const bool is_same = word(1, lane) == word(1, leader) && word(2, lane) == word(2, leader);
      same |= is_same ? std::uint32_t{1} << lane : 0;
    });
    const auto slot = queue.claim(1);
    if (!slot) {
      return NativeResult::kTryAgain;
    }
    queue.write_pattern(*slot, {.base = word(1, leader), .stride1 = word(2, leader)});
    queue.write_header(*slot,
                       {.site = site_of(call, leader), .kind = RecordKind::kEvent, .mask = same});
    mask &= ~same;
  }
  return NativeResult::kDone;
}

// Lanes in lockstep go on once all are here.
NativeResult meet(const NativeCall& call) {
  std::uint32_t members = 0;
  for_each_lane(call.mask, [&](std::uint32_t lane, std::uint32_t) {
    members |= call.arguments[1].load<std::uint32_t>(static_cast<int>(lane));
  });
  return call.waits_for(members) ? NativeResult::kTryAgain : event(call);
}

using Execute = NativeResult (*)(const NativeCall&);

constexpr emulator::NativeFunction hook(std::string_view name, std::size_t arguments,
                                        Execute execute) {
  return {.name = name,
          .shared_variable = wire::kDescriptorWord,
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
    hook("__barracuda_release_begin", 2, &release_begin<false>),
    hook("__barracuda_release_begin_generic", 2, &release_begin<true>),
    hook("__barracuda_release_end", 6, &release_end),
    hook("__barracuda_acquire", 4, &acquire<false>),
    hook("__barracuda_acquire_generic", 4, &acquire<true>),
    hook("__barracuda_event", 3, &event),
    hook("__barracuda_meet", 3, &meet),
};

}  // namespace

std::span<const emulator::NativeFunction> native_logger() {
  return kHooks;
}

}  // namespace barracuda::session
