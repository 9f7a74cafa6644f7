// The part of the check that asynchronous accesses need: they are ordered by their lines, stand for
// nothing but their like, and those of the async proxy need a fence besides (RACE_RULES section 1).
#include <algorithm>

#include "host_detector/rules/access.h"

namespace barracuda::detector {
namespace {

struct LinePlace {
  CtaKey cta{};
  std::uint32_t warp = 0, lane = 0;
};

LinePlace line_of(const Entry& entry, std::uint32_t lane) {
  const PackedLine line = PackedLine::of(entry.value);
  return {.cta = cta_key(entry.launch(), line.cta),
          .warp = line.warp,
          .lane = line.lane == PackedLine::kOwnLane ? lane : line.lane};
}

// Up to where `lane` of `warp` waited for the copies of its own that `entry` is one of.
Tick waited_for(const WarpState& warp, const Entry& entry, std::uint32_t lane) {
  const std::uint32_t line = PackedLine::of(entry.value).warp / wire::kWarpLanes - 1;
  return warp.known_lines() != nullptr && line < kLineCount
             ? warp.known_lines()->waited(static_cast<Line>(line), lane)
             : 0;
}

}  // namespace

bool AccessCheck::is_line_before(const Access& access, const Entry& older, const Entry& entry) {
  const WarpState& warp = access.actor.warp;
  const LinePlace line = line_of(older, 0);
  if (older.has_own_line()) {
    bool all = older.cta == access.actor.cta.key && older.warp == warp.warp() &&
               older.maps_lanes_like(entry);
    for (std::uint32_t rest = access.lanes; all && rest != 0; rest &= rest - 1) {
      all = waited_for(warp, older, first_lane(rest)) >= older.tick;
    }
    if (all) {
      return true;
    }
    return warp.is_uniform() && warp.state(0).clock.floor(line.cta, line.warp) >= older.tick;
  }
  bool all = true;
  warp.for_each_state(access.lanes, [&](std::uint32_t, const ThreadState& state) {
    all = all && state.clock.at(line.cta, line.warp, line.lane) >= older.tick;
  });
  return all;
}

bool AccessCheck::is_before(const Access& access, const Entry& older, std::uint32_t older_lane,
                            std::uint32_t lane) const {
  const Actor& actor = access.actor;
  if (!older.is_asynchronous()) {
    const ThreadPlace thread{.cta = older.cta,
                             .cluster = 0,
                             .warp = older.warp,
                             .lane = static_cast<std::uint8_t>(older_lane)};
    return happens_before(engine_, thread, older.tick, actor, lane);
  }
  if (older.has_own_line() && older.cta == actor.cta.key && older.warp == actor.warp.warp() &&
      older_lane == lane && waited_for(actor.warp, older, lane) >= older.tick) {
    return true;
  }
  const LinePlace line = line_of(older, older_lane);
  const ThreadPlace copier{.cta = line.cta,
                           .cluster = 0,
                           .warp = static_cast<std::uint8_t>(line.warp),
                           .lane = static_cast<std::uint8_t>(line.lane)};
  return happens_before(engine_, copier, older.tick, actor, lane);
}

// Who waits for an asynchronous access learns of it and of those before it on its line, not of what
// its issuer knew.
bool AccessCheck::may_stand_for(const Entry& entry, const Entry& older) const {
  return !entry.is_asynchronous() ||
         (older.is_asynchronous() && older.value == entry.value &&
          (!entry.has_own_line() || (older.cta == entry.cta && older.warp == entry.warp)) &&
          engine_.site(older.site).proxy == engine_.site(entry.site).proxy);
}

bool AccessCheck::is_between_proxies(const Access& access, const Entry& older) const {
  return access.site.proxy == wire::Proxy::kAsync && access.pattern.is_asynchronous() &&
         older.writes() && older.launch() == access.actor.launch() &&
         (engine_.site(older.site).proxy != wire::Proxy::kAsync || older.is_of_mbarrier());
}

bool AccessCheck::lacks_proxy_fence(const Access& access, const Entry& older,
                                    std::uint32_t older_lane, std::uint32_t lane) const {
  if (!is_between_proxies(access, older)) {
    return false;
  }
  const LinePlace place = older.is_asynchronous()
                              ? line_of(older, older_lane)
                              : LinePlace{.cta = older.cta, .warp = older.warp, .lane = older_lane};
  const Clock& clock = access.actor.warp.state(lane).clock;
  return clock.at(fenced_key(place.cta), place.warp, place.lane) < older.tick;
}

bool AccessCheck::check_copies(const Actor& actor, const WarpOperation& operation,
                               std::uint32_t lanes, std::uint8_t flags) {
  AsyncLines& lines = actor.warp.lines();
  bool are_addresses_possible = true;
  while (lanes != 0) {
    const Tick now = lines.groups(Line::kThreadGroup, first_lane(lanes)).now();
    const std::uint32_t same = lanes_where(lanes, [&](std::uint32_t lane) {
      return lines.groups(Line::kThreadGroup, lane).now() == now;
    });
    const PackedLine line{.cta = actor.cta.index,
                          .warp = line_warp(Line::kThreadGroup, actor.warp.warp())};
    are_addresses_possible =
        check_alike(actor, operation, same,
                    {.flags = static_cast<std::uint8_t>(flags | Entry::kAsynchronous),
                     .line = line.packed(),
                     .tick = now}) &&
        are_addresses_possible;
    lanes &= ~same;
  }
  return are_addresses_possible;
}

bool AccessCheck::check_range(const Actor& actor, const WarpOperation& operation,
                              std::uint32_t lanes, const Range& range) {
  if (range.bytes == 0) {
    return true;
  }
  if (wire::space_of(range.tagged) == wire::AddressSpace::kGlobal
          ? wire::address_of(range.tagged) + range.bytes > std::uint64_t{1} << wire::kSpaceShift
          : !place_of(range.tagged, actor, range.bytes)) {
    return false;
  }
  Access access(actor, operation, engine_.site(static_cast<std::uint32_t>(operation.site)),
                engine_.global);
  access.lanes = lanes;
  access.width = range.bytes;
  actor.warp.touch(access.lanes);
  Entry& pattern = access.pattern;
  pattern.cta = actor.cta.key;
  pattern.value = range.line;
  pattern.tick = (range.flags & Entry::kAsynchronous) != 0 ? range.tick : actor.warp.now();
  pattern.site = static_cast<std::uint32_t>(operation.site);
  pattern.stack = actor.warp.stack(first_lane(lanes));
  pattern.lanes = access.lanes;
  pattern.warp = static_cast<std::uint8_t>(actor.warp.warp());
  pattern.flags = range.flags;
  if (pattern.is_asynchronous()) {
    pattern.set_extent(range.bytes);
  }
  access.kind = crowd_kind(pattern);
  std::uint32_t done = 0;
  while (done < range.bytes) {
    const auto offset = static_cast<std::uint32_t>((range.tagged + done) % kBlockBytes);
    const std::uint32_t bytes = std::min(range.bytes - done, kBlockBytes - offset);
    Entry entry = pattern;
    entry.bytes = Bytes::range(offset, bytes);
    emit(access, entry, range.tagged + done, bytes);
    done += bytes;
  }
  return access.are_addresses_possible;
}

}  // namespace barracuda::detector
