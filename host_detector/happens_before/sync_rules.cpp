#include "host_detector/happens_before/sync_rules.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/strong_id.h"
#include "device_logger/memory_order.h"
#include "host_detector/races/divergence.h"

namespace barracuda::detector {
namespace {

using wire::MemoryOrder;
using wire::Operation;

boost::intrusive_ptr<FenceState> copy_of(const FenceStatePointer& fences) {
  return fences == nullptr ? boost::intrusive_ptr<FenceState>(new FenceState)
                           : boost::intrusive_ptr<FenceState>(new FenceState(*fences));
}

std::uint32_t width_of(const wire::SiteInfo& site) {
  return std::uint32_t{site.element_bytes} * site.element_count;
}

// Values are recorded for scalars of at most 64 bits.
bool records_values(const wire::SiteInfo& site) {
  return width_of(site) <= sizeof(std::uint64_t) && site.element_count == 1;
}

// Fills one channel up to `widest` with what `lane` released by its fences. Levels that say the
// same share one clock.
void fill_fenced(Publication& publication, Channel channel, const Actor& actor, std::uint32_t lane,
                 const MemoryPlace& place, ScopeLevel widest) {
  auto& releases = publication.releases[static_cast<std::size_t>(channel)];
  const FenceStatePointer& fences = actor.warp.state(lane).fences;
  if (fences == nullptr) {
    return;
  }
  const std::uint32_t bit = std::uint32_t{1} << lane;
  if (place.is_cta_local) {  // what reaches the CTA reaches everybody
    const Release& release = fences->released[index_of_level(ScopeLevel::kCta)];
    if (release.exists) {
      releases[index_of_level(ScopeLevel::kDevice)] =
          actor.warp.with_own(release.clock, bit, release.own);
    }
    return;  // of its CTA alone: nothing narrow
  }
  const Release* done = nullptr;
  for (std::size_t level = index_of_level(widest) + 1; level-- > 0;) {
    const Release& release = fences->released[level];
    if (!release.exists) {
      continue;
    }
    const bool is_same =
        done != nullptr && done->own == release.own && done->clock.shares_all_with(release.clock);
    releases[level] =
        is_same ? releases[level + 1] : actor.warp.with_own(release.clock, bit, release.own);
    publication.known_until[static_cast<std::size_t>(channel)][level] = release.own;
    done = &release;
  }
}

void fill_all(Publication& publication, Channel channel, const Actor& actor, std::uint32_t lane,
              const MemoryPlace& place, ScopeLevel widest) {
  auto& releases = publication.releases[static_cast<std::size_t>(channel)];
  const Clock all = actor.warp.known_to(lane);
  if (place.is_cta_local) {
    releases[index_of_level(ScopeLevel::kDevice)] = all;
    return;
  }
  for (std::size_t level = 0; level <= index_of_level(widest); ++level) {
    releases[level] = all;
    publication.known_until[static_cast<std::size_t>(channel)][level] = actor.warp.now();
  }
}

// A thread that reads the value of an asynchronous store learns of that store; the store's own
// thread does not know when it is done.
void add_unwaited(std::array<Clock, kLevelCount>& releases, const Actor& actor,
                  std::uint32_t lane) {
  const WarpTime made{.slot = completion_slot(Completion::kUnwaited, actor.warp.warp()),
                      .lanes = (std::uint32_t{1} << lane) | actor.warp.absent(),
                      .time = actor.warp.now()};
  for (Clock& release : releases) {
    if (!release.is_empty()) {
      release.raise(actor.cta.key, {&made, 1});
    }
  }
}

ThreadState with_acquired(const ThreadState& before, const Acquired& acquired, bool at_once) {
  ThreadState after = before;
  if (at_once) {
    for (const Clock& clock : acquired.clocks) {
      if (!after.clock.covers(clock)) {
        after.clock.join(clock);
      }
    }
    return after;
  }
  const auto is_news = [&](std::size_t level) {
    const Clock& clock = acquired.clocks[level];
    return !clock.is_empty() &&
           (before.fences == nullptr || !before.fences->pending[level].shares_all_with(clock)) &&
           !before.clock.covers(clock) &&
           (before.fences == nullptr || !before.fences->pending[level].covers(clock));
  };
  if (!is_news(0) && !is_news(1) && !is_news(2)) {
    return after;
  }
  const auto fences = copy_of(before.fences);
  for (std::size_t level = 0; level < kLevelCount; ++level) {
    if (acquired.clocks[level].is_empty()) {
      continue;
    }
    // Who polls takes what has come in addition: no need to compare it with what it took before.
    Clock& pending = fences->pending[level];
    std::uint64_t& from = fences->pending_from[level];
    if (pending.is_empty() || (from != 0 && from == acquired.source)) {
      pending = acquired.clocks[level];
      from = acquired.source;
    } else {
      pending.join(acquired.clocks[level]);
      from = 0;
    }
  }
  after.fences = fences;
  return after;
}

// A release hands on what its thread knows, an acquire takes what was handed on, wherever it lies.
void hand_to_maps(const Actor& actor, std::uint32_t lanes, MemoryOrder order) {
  WarpState& warp = actor.warp;
  const LaunchId launch = actor.launch();
  if (wire::has_release(order)) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const std::uint32_t bit = std::uint32_t{1} << first_lane(rest);
      const WarpTime own{.slot = view_slot(MapView::kReleased, warp_slot(warp.warp())),
                         .lanes = bit | warp.absent(),
                         .time = warp.now()};
      ThreadState after = warp.state(first_lane(rest));
      after.clock.release_to_maps(launch);
      after.clock.raise(actor.cta.key.fenced(), {&own, 1});
      warp.set(bit, after);
    }
  }
  if (wire::has_acquire(order)) {
    warp.change(lanes, [&](std::uint32_t, const ThreadState& before) {
      ThreadState after = before;
      after.clock.acquire_for_maps(launch);
      return after;
    });
  }
}

}  // namespace

void SyncRules::fence(const Actor& actor, std::uint32_t lanes, const wire::SiteInfo& site) {
  const std::size_t widest = index_of_level(level_of(site.scope));
  const Time now = actor.warp.now();
  actor.warp.publish();
  if (wire::has_release(site.order)) {
    actor.warp.join_completions(lanes);
  }
  actor.warp.change(lanes, [&](std::uint32_t, const ThreadState& before) {
    ThreadState after = before;
    if (wire::has_acquire(site.order) && before.fences != nullptr) {
      for (std::size_t level = 0; level <= widest; ++level) {
        after.clock.join(before.fences->pending[level]);
      }
    }
    const bool leaves_pending = wire::has_acquire(site.order) && before.fences != nullptr &&
                                widest < index_of_level(ScopeLevel::kDevice) &&
                                !after.clock.covers(before.fences->pending[kLevelCount - 1]);
    if (wire::has_release(site.order) || leaves_pending) {
      const auto fences = copy_of(before.fences);
      // What was acquired the clock has: no later fence takes more of it.
      for (std::size_t level = 0; wire::has_acquire(site.order) && level <= widest; ++level) {
        fences->pending[level] = Clock();
      }
      if (leaves_pending) {
        fences->left_pending.join(fences->pending[kLevelCount - 1]);
      }
      for (std::size_t level = 0; wire::has_release(site.order) && level <= widest; ++level) {
        fences->released[level] = {.clock = after.clock, .own = now, .exists = true};
      }
      after.fences = fences;
    }
    return after;
  });
  actor.warp.advance();
}

void SyncRules::fence_maps(const Actor& actor, const WarpOperation& operation,
                           const wire::SiteInfo& site) {
  if (site.aligned) {  // after what lane 0 has copied for the warp
    const WarpTime copied{
        .slot = warp_slot(actor.warp.warp()), .lanes = 1, .time = actor.warp.now()};
    actor.warp.change(operation.mask, [&](std::uint32_t, const ThreadState& before) {
      ThreadState after = before;
      after.clock.raise(actor.cta.key, {&copied, 1});
      return after;
    });
  }
  if (wire::has_acquire(site.order)) {  // before what it takes
    fence(actor, operation.mask, site);
    hand_to_maps(actor, operation.mask, site.order);
  } else {  // after what it gives
    actor.warp.join_completions(operation.mask);
    hand_to_maps(actor, operation.mask, site.order);
    fence(actor, operation.mask, site);
  }
}

Writer SyncRules::writer(const Actor& actor, std::uint32_t lane, wire::SiteId id) const {
  Writer writer{.thread = actor.thread(lane),
                .site = id,
                .state = actor.warp.state(lane),
                .now = actor.warp.now(),
                .fence = std::nullopt,
                .is_release = wire::has_release(engine_.site(index_of(id)).order)};
  const auto last = actor.warp.sync_notes.last(lane);
  if (last && last->site && engine_.site(index_of(*last->site)).operation == Operation::kFence) {
    writer.fence = last->site;
  }
  return writer;
}

void SyncRules::publish(const Actor& actor, std::uint32_t lane, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(index_of(operation.site));
  const LaneAccess& access = operation.lanes[lane];
  const std::optional<MemoryPlace> place = place_of(access.address, actor, width_of(site));
  if (!place) {
    return;
  }
  const bool is_strong = site.order != MemoryOrder::kWeak;
  const bool releases = wire::has_release(site.order);
  Publication publication;
  publication.is_atomic = site.operation != wire::Operation::kWrite;
  if (records_values(site)) {
    if ((access.flags & wire::kLaneHasRead) != 0) {
      publication.value_read = access.value_read;
    }
    if ((access.flags & wire::kLaneHasWritten) != 0) {
      publication.value_written = access.value_written;
    }
  }
  if (is_strong) {
    constexpr auto kStrong = static_cast<std::size_t>(Channel::kStrong);
    (releases ? fill_all : fill_fenced)(publication, Channel::kStrong, actor, lane, *place,
                                        level_of(site.scope));
    if (site.asynchrony == wire::Asynchrony::kUnwaited) {
      add_unwaited(publication.releases[kStrong], actor, lane);
      publication.known_until[kStrong] = {};  // what it released then no later release need have
    }
  }
  if (site.flag_store) {
    fill_fenced(publication, Channel::kFlag, actor, lane, *place, level_of(site.idiom_scope));
  }
  publication.writer = writer(actor, lane, operation.site);
  locations_of(engine_, *place).get(place->address, width_of(site)).publish(std::move(publication));
}

void SyncRules::release(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    if ((operation.lanes[lane].flags & wire::kLaneVoid) == 0) {
      publish(actor, lane, operation);
    }
  }
  if (wire::has_release(site.order)) {
    actor.warp.sync_notes.note(operation.site, operation.mask,
                               {.time = actor.warp.now(), .ends_epoch = true});
  }
  actor.warp.publish();
  actor.warp.advance();  // what follows is told from what it can have published
}

void SyncRules::take(const Actor& actor, std::uint32_t lanes, const WarpOperation& operation,
                     bool is_refused) {
  const wire::SiteInfo& site = engine_.site(index_of(operation.site));
  const LaneAccess& access = operation.lanes[first_lane(lanes)];
  const std::optional<MemoryPlace> place = place_of(access.address, actor, width_of(site));
  if (!place) {
    return;
  }
  std::optional<std::uint64_t> value;
  if (records_values(site)) {
    value = access.value_read;
  }
  actor.cta.observe(actor.warp.warp(), {.tagged = access.address,
                                        .value = value,
                                        .site = operation.site,
                                        .size = width_of(site),
                                        .lanes = lanes,
                                        .time = actor.warp.now(),
                                        .is_refusal = is_refused});
  SyncLocation* location = locations_of(engine_, *place).find(place->address, width_of(site));
  if (location == nullptr) {
    return;
  }
  const bool is_strong = site.order != MemoryOrder::kWeak;
  const ThreadKey thread = actor.thread(first_lane(lanes));
  const std::optional<std::uint64_t> seen =
      value && site.waits_for_change ? location->first_with_same(site.constant, *value) : value;
  const auto acquire_from = [&](Channel channel, wire::Scope scope, bool at_once) {
    const ScopeLevel level = place->is_cta_local ? ScopeLevel::kDevice : level_of(scope);
    Acquired acquired = location->acquire(
        seen, thread,
        {.level = level,
         .needs_narrow = !at_once && !place->is_cta_local && engine_.has_narrow_fences},
        channel);
    if (place->is_cta_local) {
      std::swap(acquired.clocks[index_of_level(ScopeLevel::kCta)],
                acquired.clocks[index_of_level(ScopeLevel::kDevice)]);
    }
    actor.warp.change(lanes, [&](std::uint32_t, const ThreadState& before) {
      return with_acquired(before, acquired, at_once);
    });
  };
  if (is_strong) {
    acquire_from(Channel::kStrong, site.scope,
                 wire::has_acquire(site.order) || engine_.options.acquire_relaxed_spin);
  }
  if (site.poll) {
    acquire_from(Channel::kFlag, site.idiom_scope, false);
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    location->observe({.thread = actor.thread(first_lane(rest)),
                       .value = value,
                       .time = actor.warp.now(),
                       .sequence = engine_.release_records,
                       .is_poll = site.poll});
  }
}

void SyncRules::acquire(const Actor& actor, const WarpOperation& operation, std::uint32_t refused) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  std::uint32_t rest = operation.mask;
  while (rest != 0) {
    const LaneAccess& first = operation.lanes[first_lane(rest)];
    const std::uint32_t same = lanes_where(rest, [&](std::uint32_t lane) {
      const LaneAccess& other = operation.lanes[lane];
      return other.address == first.address && other.value_read == first.value_read &&
             ((refused >> lane) & 1) == ((refused >> first_lane(rest)) & 1);
    });
    take(actor, same, operation, (refused & same) != 0);
    rest &= ~same;
  }
  if (wire::has_acquire(site.order)) {
    actor.warp.sync_notes.note(operation.site, operation.mask, {.time = actor.warp.now()});
  }
}

void SyncRules::barrier(const Actor& actor, const WarpOperation& operation, bool waits) {
  CtaState& cta = actor.cta;
  Barrier& barrier =
      cta.barriers.try_emplace(operation.event_operand, cta.warps.size()).first->second;
  const auto site = static_cast<std::uint32_t>(operation.site);
  if (waits) {
    barrier.arrive_and_wait(actor.warp, operation.mask, operation.event_count, site);
  } else {
    barrier.arrive(actor.warp, operation.mask, operation.event_count, site);
  }
  if (barrier.is_complete(cta.live_threads)) {
    open(cta, operation.event_operand, barrier);
  }
}

// What all threads of a CTA have waited for divides the accesses to its shared memory, which nobody
// else can touch: those before it need not be kept, nor what was released through that memory,
// which all of them know now. It does not order asynchronous ones, nor does it stand for the fence
// that they need.
void SyncRules::open(CtaState& cta, std::uint32_t number, Barrier& barrier) const {
  report_lanes_gone(engine_, cta, number, barrier);
  if (engine_.has_asynchrony) {
    for (WarpState& warp : cta.warps) {
      warp.end_kept_copies();
    }
  }
  if (!engine_.has_asynchrony && !engine_.options.keeps_everything && !cta.launch.has_clusters() &&
      barrier.has_everybody(cta.warps)) {
    cta.shared.begin_phase();
    cta.shared_locations.clear();
  }
  barrier.open(cta.warps);
}

void SyncRules::open_warp_barrier(WarpState& warp, std::uint32_t waiting) {
  Gathering gathering;
  gathering.add(warp, waiting);
  warp.set(waiting, gathering.take());
  warp.advance();
}

void SyncRules::open_complete_warp_barriers(WarpState& warp) {
  for (const WarpState::WarpBarrier& barrier : warp.warp_barriers) {
    if ((barrier.members & warp.alive() & ~barrier.waiting) == 0 && barrier.waiting != 0) {
      warp.publish();
      open_warp_barrier(warp, barrier.waiting);
    }
  }
  std::erase_if(warp.warp_barriers, [&](const WarpState::WarpBarrier& barrier) {
    return (barrier.members & warp.alive() & ~barrier.waiting) == 0;
  });
}

void SyncRules::warp_barrier(const Actor& actor, const WarpOperation& operation) {
  std::vector<WarpState::WarpBarrier>& barriers = actor.warp.warp_barriers;
  auto barrier =
      std::ranges::find(barriers, operation.event_operand, &WarpState::WarpBarrier::members);
  if (barrier == barriers.end()) {
    barrier = barriers.insert(barrier, {.members = operation.event_operand});
  }
  barrier->waiting |= operation.mask;
  open_complete_warp_barriers(actor.warp);
}

void SyncRules::warp_barriers(WarpState& warp, std::uint32_t number) {
  for (warp.counted_barriers.enter(number); warp.counted_barriers.number() < number;) {
    warp.counted_barriers.add(warp.now());
    open_warp_barrier(warp, warp.alive());
  }
}

void SyncRules::grid_wait(const Actor& actor, std::uint32_t lanes) {
  actor.warp.change(lanes, [&](std::uint32_t, const ThreadState& before) {
    ThreadState after = before;
    after.clock.join(actor.cta.launch.from_grid_wait);
    return after;
  });
}

void SyncRules::open_what_held(const Actor& actor, std::uint32_t lanes) {
  std::erase_if(actor.warp.warp_barriers, [&](const WarpState::WarpBarrier& barrier) {
    if ((barrier.waiting & lanes) == 0) {
      return false;
    }
    actor.warp.publish();
    open_warp_barrier(actor.warp, barrier.waiting);
    return true;
  });
  if ((actor.warp.waiting & lanes) == 0) {
    return;
  }
  for (auto& [id, barrier] : actor.cta.barriers) {
    if ((barrier.arrivals()[actor.warp.warp()].waiting & lanes) != 0) {
      open(actor.cta, id, barrier);
    }
  }
}

void SyncRules::keep_what_launch_learnt(const Actor& actor, std::uint32_t lanes) {
  LaunchState& launch = actor.cta.launch;
  if (!launch.ran_with_others && launch.initial.is_empty()) {
    return;
  }
  const auto is_own = [&](CtaKey cta) { return cta.is_fenced() || cta.work() == launch.info.id; };
  actor.warp.for_each_state(lanes, [&](std::uint32_t, const ThreadState& state) {
    launch.learn(state.clock.without(is_own));
  });
}

void SyncRules::exit(const Actor& actor, std::uint32_t lanes) {
  CtaState& cta = actor.cta;
  keep_what_launch_learnt(actor, lanes);
  actor.warp.exit(lanes);
  cta.live_threads -= static_cast<std::uint64_t>(std::popcount(lanes));
  for (auto& [id, barrier] : cta.barriers) {
    barrier.on_exit(actor.warp);
    if (barrier.is_complete(cta.live_threads)) {
      open(cta, id, barrier);
    }
  }
  open_complete_warp_barriers(actor.warp);
}

}  // namespace barracuda::detector
