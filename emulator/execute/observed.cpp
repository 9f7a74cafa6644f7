#include "emulator/execute/observed.h"

#include <array>
#include <bit>
#include <cstring>

#include "emulator/execute/lanes/addresses.h"
#include "emulator/state/cluster.h"
#include "emulator/state/host_address.h"
#include "emulator/state/launch.h"
#include "emulator/state/memory_use.h"

namespace barracuda::emulator {

using baseline::Addresses;

namespace {

// The bytes of an access, of each of its lanes, as they are now.
struct Snapshot {  // NOLINT(cppcoreguidelines-pro-type-member-init): filled lane by lane
  Addresses where;
  std::uint32_t bytes = 0;
  std::array<std::array<std::byte, PollWatch::kMostBytes>, kLanes> lanes;
};

// A warp that changes more than this works: watching it would only take time.
constexpr std::uint64_t kMostChanges = 512;

void note_change(Context& c) {
  Cluster& cluster = *c.cta->cluster;
  if (++cluster.changes - cluster.changes_before > kMostChanges) {
    c.observer = nullptr;
  }
}

bool resolve(Context& c, const Instruction& in, std::uint32_t mask, const Access& access,
             Addresses& where) {
  switch (static_cast<Place>(in.flags)) {
    case Place::kShared:
      return baseline::resolve<Place::kShared>(c, in, mask, access, where);
    case Place::kGlobal:
    case Place::kGeneric:
      return baseline::resolve<Place::kGeneric>(c, in, mask, access, where);
    case Place::kLocal:
    case Place::kFrame:
    case Place::kParameter:
      break;
  }
  return false;
}

bool is_private(const Instruction& in) {
  const auto place = static_cast<Place>(in.flags);
  return place == Place::kLocal || place == Place::kFrame || place == Place::kParameter;
}

template <typename Visitor>
void for_each_lane(std::uint32_t mask, const Visitor& visit) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    visit(static_cast<std::size_t>(std::countr_zero(rest)));
  }
}

const std::byte* memory_at(const Snapshot& snapshot, std::size_t lane) {
  return host_address<const std::byte>(snapshot.where.at[lane]);
}

bool is_unchanged(const Snapshot& snapshot, std::uint32_t mask) {
  bool is_same = true;
  for_each_lane(mask, [&](std::size_t lane) {
    is_same = is_same && std::memcmp(snapshot.lanes[lane].data(), memory_at(snapshot, lane),
                                     snapshot.bytes) == 0;
  });
  return is_same;
}

// False: something is new.
bool note(const Context& c, const Snapshot& snapshot, std::uint32_t mask, PollWatch& watch) {
  const auto shared = reinterpret_cast<std::uint64_t>(c.shared);
  std::uint64_t last = 0;
  bool is_repeated = true;
  for_each_lane(mask, [&](std::size_t lane) {
    const std::uint64_t address = snapshot.where.at[lane];
    if (address != last) {
      is_repeated = watch.note_access({.address = address,
                                       .bytes = snapshot.bytes,
                                       .is_global = address - shared >= c.shared_bytes &&
                                                    c.launch->memory.find(address).has_value(),
                                       .value = snapshot.lanes[lane]}) &&
                    is_repeated;
    }
    last = address;
  });
  watch.note_lanes(mask);
  return is_repeated;
}

Step execute_access(Context& c, const Instruction& in, std::uint32_t mask, PollWatch& watch) {
  const bool writes = use_of(in.memory) == MemoryUse::kWrites;
  Snapshot snapshot;
  snapshot.bytes = element_bytes_of(in.memory) * in.count;
  if (is_private(in) || snapshot.bytes > PollWatch::kMostBytes) {
    return in.handler(c, in, mask);
  }
  if (!resolve(c, in, mask, {.bytes = snapshot.bytes, .is_write = writes}, snapshot.where)) {
    return Step::kSwitch;  // the launch has failed
  }
  if ((snapshot.where.local_lanes & mask) != 0) {
    return in.handler(c, in, mask);
  }
  for_each_lane(mask, [&](std::size_t lane) {
    std::memcpy(snapshot.lanes[lane].data(), memory_at(snapshot, lane), snapshot.bytes);
  });
  const Step step = in.handler(c, in, mask);
  if ((writes && !is_unchanged(snapshot, mask)) || !note(c, snapshot, mask, watch)) {
    note_change(c);
  }
  return step;
}

}  // namespace

Step execute_observed(Context& c, const Instruction& in, std::uint32_t mask) {
  if (c.warp->watch == nullptr) {
    c.warp->watch = std::make_unique<PollWatch>();
  }
  PollWatch& watch = *c.warp->watch;
  watch.follow(c.cta->cluster->changes);
  switch (use_of(in.memory)) {
    case MemoryUse::kNone:
      break;
    case MemoryUse::kReads:
    case MemoryUse::kWrites:
      return execute_access(c, in, mask, watch);
    case MemoryUse::kMeets:
      watch.note_lanes(mask);
      break;
    case MemoryUse::kOther: {
      const Step step = in.handler(c, in, mask);
      // A wait at an mbarrier whose phase has not ended.
      const bool polls = c.yields && c.warp->running().polls_at == &in;
      if (polls) {
        watch.note_lanes(mask);
      } else {
        note_change(c);
      }
      return step;
    }
  }
  return in.handler(c, in, mask);
}

}  // namespace barracuda::emulator
