// The part of the check that asynchronous accesses need: they are ordered by their completions,
// stand for nothing but their like, and those of the async proxy need a fence besides (RACE_RULES
// section 1).
#include <algorithm>

#include "host_detector/races/access.h"

namespace barracuda::detector {
namespace {

struct ClockPlace {
  CtaKey cta{};
  std::uint32_t warp = 0, lane = 0;
};

ClockPlace completion_of(const Cell& cell, std::uint32_t lane) {
  const PackedCompletion completion = PackedCompletion::of(cell.value);
  return {.cta = cta_key(cell.launch(), completion.cta),
          .warp = completion.warp,
          .lane = completion.lane == PackedCompletion::kOwnLane ? lane : completion.lane};
}

// Up to where `lane` of `warp` waited for the copies of its own that `cell` is one of.
Time waited_for(const WarpState& warp, const Cell& cell, std::uint32_t lane) {
  const std::uint32_t completion = PackedCompletion::of(cell.value).warp / wire::kWarpLanes - 1;
  return warp.known_completions() != nullptr && completion < kCompletionCount
             ? warp.known_completions()->waited(static_cast<Completion>(completion), lane)
             : 0;
}

}  // namespace

bool AccessCheck::is_completion_before(const Access& access, const Cell& older, const Cell& cell) {
  const WarpState& warp = access.actor.warp;
  const ClockPlace completion = completion_of(older, 0);
  if (older.has_own_completion()) {
    bool all = older.cta == access.actor.cta.key && older.warp == warp.warp() &&
               older.maps_lanes_like(cell);
    for (std::uint32_t rest = access.lanes; all && rest != 0; rest &= rest - 1) {
      all = waited_for(warp, older, first_lane(rest)) >= older.time;
    }
    if (all) {
      return true;
    }
    return warp.is_uniform() &&
           warp.state(0).clock.floor(completion.cta, completion.warp) >= older.time;
  }
  bool all = true;
  warp.for_each_state(access.lanes, [&](std::uint32_t, const ThreadState& state) {
    all = all && state.clock.at(completion.cta, completion.warp, completion.lane) >= older.time;
  });
  return all;
}

bool AccessCheck::is_before(const Access& access, const Cell& older, std::uint32_t older_lane,
                            std::uint32_t lane) const {
  const Actor& actor = access.actor;
  if (!older.is_asynchronous()) {
    const ThreadKey thread{.cta = older.cta,
                           .cluster = 0,
                           .warp = older.warp,
                           .lane = static_cast<std::uint8_t>(older_lane)};
    return happens_before(engine_, thread, older.time, actor, lane);
  }
  if (older.has_own_completion() && older.cta == actor.cta.key && older.warp == actor.warp.warp() &&
      older_lane == lane && waited_for(actor.warp, older, lane) >= older.time) {
    return true;
  }
  const ClockPlace completion = completion_of(older, older_lane);
  const ThreadKey copier{.cta = completion.cta,
                         .cluster = 0,
                         .warp = static_cast<std::uint8_t>(completion.warp),
                         .lane = static_cast<std::uint8_t>(completion.lane)};
  return happens_before(engine_, copier, older.time, actor, lane);
}

// Who waits for an asynchronous access learns of it and of those before it on its completion, not
// of what its issuer knew.
bool AccessCheck::may_stand_for(const Cell& cell, const Cell& older) const {
  return !cell.is_asynchronous() ||
         (older.is_asynchronous() && older.value == cell.value &&
          (!cell.has_own_completion() || (older.cta == cell.cta && older.warp == cell.warp)) &&
          engine_.site(older.site).proxy == engine_.site(cell.site).proxy);
}

bool AccessCheck::is_between_proxies(const Access& access, const Cell& older) const {
  return access.site.proxy == wire::Proxy::kAsync && access.pattern.is_asynchronous() &&
         older.writes() && older.launch() == access.actor.launch() &&
         (engine_.site(older.site).proxy != wire::Proxy::kAsync || older.is_of_mbarrier());
}

bool AccessCheck::lacks_proxy_fence(const Access& access, const Cell& older,
                                    std::uint32_t older_lane, std::uint32_t lane) const {
  if (!is_between_proxies(access, older)) {
    return false;
  }
  const ClockPlace place =
      older.is_asynchronous()
          ? completion_of(older, older_lane)
          : ClockPlace{.cta = older.cta, .warp = older.warp, .lane = older_lane};
  const Clock& clock = access.actor.warp.state(lane).clock;
  return clock.at(fenced_key(place.cta), place.warp, place.lane) < older.time;
}

bool AccessCheck::check_copies(const Actor& actor, const WarpOperation& operation,
                               std::uint32_t lanes, std::uint8_t flags) {
  Completions& completions = actor.warp.completions();
  bool are_addresses_possible = true;
  while (lanes != 0) {
    const Time now = completions.groups(Completion::kThreadGroup, first_lane(lanes)).now();
    const std::uint32_t same = lanes_where(lanes, [&](std::uint32_t lane) {
      return completions.groups(Completion::kThreadGroup, lane).now() == now;
    });
    const PackedCompletion completion{
        .cta = actor.cta.index,
        .warp = completion_warp(Completion::kThreadGroup, actor.warp.warp())};
    are_addresses_possible =
        check_alike(actor, operation, same,
                    {.flags = static_cast<std::uint8_t>(flags | Cell::kAsynchronous),
                     .completion = completion.packed(),
                     .time = now}) &&
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
  Cell& pattern = access.pattern;
  pattern.cta = actor.cta.key;
  pattern.value = range.completion;
  pattern.time = (range.flags & Cell::kAsynchronous) != 0 ? range.time : actor.warp.now();
  pattern.site = static_cast<std::uint32_t>(operation.site);
  pattern.stack = actor.warp.stack(first_lane(lanes));
  pattern.lanes = access.lanes;
  pattern.warp = static_cast<std::uint8_t>(actor.warp.warp());
  pattern.flags = range.flags;
  if (pattern.is_asynchronous()) {
    pattern.set_extent(range.bytes);
  }
  access.kind = shared_access_kind(pattern);
  std::uint32_t done = 0;
  while (done < range.bytes) {
    const auto offset = static_cast<std::uint32_t>((range.tagged + done) % kBlockBytes);
    const std::uint32_t bytes = std::min(range.bytes - done, kBlockBytes - offset);
    Cell cell = pattern;
    cell.bytes = Bytes::range(offset, bytes);
    record(access, cell, range.tagged + done, bytes);
    done += bytes;
  }
  return access.are_addresses_possible;
}

}  // namespace barracuda::detector
