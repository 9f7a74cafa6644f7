#include "host_detector/races/explanation.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "base/strong_id.h"
#include "device_logger/memory_order.h"
#include "device_logger/scope_order.h"

namespace barracuda::detector {
namespace {

struct Earlier {
  ThreadKey thread;
  Time time = 0;
  wire::Scope needed = wire::Scope::kCta;
  wire::SiteId site{};
  // Of a settled access, whose time nobody knows: its thread may have made it from the first on.
  std::optional<wire::SiteId> settled_site = std::nullopt;

  // A guess for a settled access: what stands behind it in the text was done behind it, and by
  // other threads of its block behind a barrier, for one that orders nothing else is not logged.
  [[nodiscard]] bool may_be_before(wire::SiteId other) const {
    return !settled_site || index_of(*settled_site) < index_of(other);
  }

  [[nodiscard]] bool is_known_to(const ThreadKey& other, const Clock& clock) const {
    return settled_site ? other.cta == thread.cta : is_in(clock);
  }

  [[nodiscard]] bool is_in(const Clock& clock) const { return clock.at(thread.place()) >= time; }

  [[nodiscard]] bool is_of(const ThreadKey& other) const {
    return other.cta == thread.cta && other.warp == thread.warp && other.lane == thread.lane;
  }

  [[nodiscard]] bool is_in(const Release& release, bool is_own) const {
    return release.exists && ((is_own && release.own >= time) || is_in(release.clock));
  }
};

// What orders would have been needed, and at which instruction; the direct hand-over tells most.
struct Lack {
  MissingOrder missing = MissingOrder::kNoSynchronisation;
  std::optional<wire::SiteId> about;
  int weight = 0;
  Time when = 0;  // of the hand-over

  // Of hand-overs by one thread the first one is what the program means.
  [[nodiscard]] bool tells_more_than(const Lack& other) const {
    return weight > other.weight ||
           (weight == other.weight && missing == other.missing && when < other.when);
  }
};

constexpr int kHint = 1, kIndirect = 2, kDirect = 3;

// A read by which a thread that happens before the second access, or made it, may have acquired.
struct Reader {
  const WarpObservation& observation;
  const wire::SiteInfo& site;
  bool has_acquired = false;  // it acquires, or a fence came after it
  bool is_cta_local = false;
};

// What the fences of `writer` released up to `level`.
Release released_by(const Writer& writer, ScopeLevel level) {
  const FenceState* fences = writer.state.fences.get();
  return fences != nullptr ? fences->released[index_of_level(level)] : Release{};
}

bool has_read_of(const Writer& writer, const Earlier& earlier) {
  const FenceState* fences = writer.state.fences.get();
  return fences != nullptr && std::ranges::any_of(fences->pending, [&](const Clock& clock) {
           return earlier.is_in(clock);
         });
}

// Why what the fences of `writer` released does not hold the earlier access for those who need it.
Lack lack_of_fence(const Writer& writer, const Earlier& earlier, const Reader& reader) {
  const bool is_own = earlier.is_of(writer.thread);
  const wire::Scope needed = reader.is_cta_local ? wire::Scope::kCta : earlier.needed;
  const bool is_fenced =
      !earlier.settled_site || (writer.fence && earlier.may_be_before(*writer.fence));
  if (is_fenced && earlier.is_in(released_by(writer, level_of(needed)), is_own)) {
    return {};
  }
  if (is_fenced && earlier.is_in(released_by(writer, ScopeLevel::kCta), is_own)) {
    return {.missing = MissingOrder::kScopeTooNarrow, .about = writer.fence};
  }
  return {.missing = reader.has_acquired ? MissingOrder::kReleaseFenceMissing
                                         : MissingOrder::kFencesMissing,
          .about = writer.site};
}

// What a hand-over through `writer` lacked; kNoSynchronisation if it could not have been one.
Lack lack_of(const EngineState& engine, const Writer& writer, const Earlier& earlier,
             const Reader& reader) {
  const wire::SiteInfo& site = engine.site(index_of(writer.site));
  const bool is_own = earlier.is_of(writer.thread);
  const int weight = is_own ? kDirect : kIndirect;
  const bool is_known =
      is_own ? writer.now >= earlier.time : earlier.is_known_to(writer.thread, writer.state.clock);
  if (!is_known || !earlier.may_be_before(writer.site)) {
    if (!earlier.settled_site && has_read_of(writer, earlier)) {
      return {
          .missing = MissingOrder::kLinkFenceMissing, .about = writer.site, .weight = kIndirect};
    }
    const bool releases = writer.is_release || released_by(writer, ScopeLevel::kCta).exists;
    const wire::SiteId release =
        writer.is_release ? writer.site : writer.fence.value_or(writer.site);
    if (is_own && releases) {
      return {.missing = MissingOrder::kAfterRelease, .about = release, .weight = kHint};
    }
    // That it stands behind the access in the text is all that says it was meant to come later.
    const bool is_for_block = writer.thread.cta == earlier.thread.cta && !is_own &&
                              earlier.needed != wire::Scope::kCta && !earlier.settled_site &&
                              index_of(earlier.site) < index_of(writer.site);
    return is_for_block && releases && reader.has_acquired
               ? Lack{.missing = MissingOrder::kBlockBarrierMissing,
                      .about = writer.site,
                      .weight = kHint}
               : Lack{};
  }
  if (!writer.is_release) {
    Lack lack = lack_of_fence(writer, earlier, reader);
    if (lack.missing != MissingOrder::kNoSynchronisation) {
      lack.weight = weight;
      return lack;
    }
  }
  const bool is_strong = site.order != wire::MemoryOrder::kWeak;
  const bool is_read_strongly = reader.site.order != wire::MemoryOrder::kWeak;
  if (!reader.is_cta_local && is_strong && !includes(site.scope, earlier.needed)) {
    return {.missing = MissingOrder::kScopeTooNarrow, .about = writer.site, .weight = weight};
  }
  if (!reader.is_cta_local && is_read_strongly && !includes(reader.site.scope, earlier.needed)) {
    return {.missing = MissingOrder::kScopeTooNarrow,
            .about = reader.observation.site,
            .weight = weight};
  }
  if (is_strong && !is_read_strongly) {
    return {
        .missing = MissingOrder::kPollTooWeak, .about = reader.observation.site, .weight = weight};
  }
  if (!is_strong && is_read_strongly && !reader.site.poll) {
    return reader.has_acquired
               ? Lack{.missing = MissingOrder::kFlagTooWeak, .about = writer.site, .weight = weight}
               : Lack{.missing = MissingOrder::kAcquireFenceMissing,
                      .about = std::nullopt,
                      .weight = weight};
  }
  return {};
}

// The second thread saw the flag and has not acquired what it says.
std::optional<MissingOrder> awaited_fence(const ThreadState& state, const Earlier& earlier) {
  if (state.fences == nullptr ||
      std::ranges::none_of(state.fences->pending,
                           [&](const Clock& pending) { return earlier.is_in(pending); })) {
    return std::nullopt;
  }
  return earlier.is_in(state.fences->left_pending) ? MissingOrder::kScopeTooNarrow
                                                   : MissingOrder::kAcquireFenceMissing;
}

// The lack that tells most of those of what a read saw; nothing if that was no hand-over.
void look_at(EngineState& engine, const Actor& actor, const Earlier& earlier, const Actor& reading,
             const WarpObservation& observation, Lack& best) {
  const std::optional<MemoryPlace> place = place_of(observation.tagged, actor, observation.size);
  const SyncLocation* location =
      place ? locations_of(engine, *place).find(place->address, observation.size) : nullptr;
  if (location == nullptr) {
    return;
  }
  const wire::SiteInfo& site = engine.site(index_of(observation.site));
  const std::uint32_t lane = first_lane(observation.lanes);
  const FenceStatePointer& fences = reading.warp.state(lane).fences;
  const Earlier seen{.thread = reading.thread(lane), .time = observation.time};
  const bool is_fenced =
      fences != nullptr && seen.is_in(fences->released[index_of_level(ScopeLevel::kCta)], true);
  const Reader reader{.observation = observation,
                      .site = site,
                      .has_acquired = wire::has_acquire(site.order) || is_fenced,
                      .is_cta_local = place->is_cta_local};
  location->for_each_seen(observation.value, [&](const Writer& writer) {
    Lack lack = lack_of(engine, writer, earlier, reader);
    lack.when = writer.now;
    if (lack.tells_more_than(best)) {
      best = lack;
    }
  });
}

// The lock was taken: its value was written where this thread tried and failed to write it.
bool was_refused(EngineState& engine, const Actor& actor, const WarpObservation& last) {
  const std::optional<MemoryPlace> place = place_of(last.tagged, actor, last.size);
  const SyncLocation* location = place && last.is_refusal
                                     ? locations_of(engine, *place).find(place->address, last.size)
                                     : nullptr;
  bool is_taken = false;
  if (location != nullptr) {
    location->for_each_seen(
        last.value, [&](const Writer& writer) { is_taken = is_taken || writer.site == last.site; });
  }
  return is_taken;
}

// What is atomic itself is not what a lock guards: who joins lists by compare-and-swap fails and
// goes on without any lock.
bool may_be_guarded(const EngineState& engine, const RaceAccess& access) {
  if (access.site.is_call()) {
    return true;
  }
  const wire::Operation operation = engine.site(index_of(access.site.instruction())).operation;
  return operation != wire::Operation::kAtomic && operation != wire::Operation::kReduction;
}

// Calls visit(warp, observation) for reads that happen before what `lane` of `actor` does now, its
// own first, the newest first.
template <typename Visit>
void for_each_observation(EngineState& engine, const Actor& actor, std::uint32_t lane,
                          Visit visit) {
  const auto visit_those_of = [&](WarpState& warp) {
    const Actor reading{.cta = actor.cta, .warp = warp};
    const std::vector<WarpObservation>& observations = actor.cta.observations[warp.warp()];
    for (const WarpObservation& observation : std::views::reverse(observations)) {
      for (const std::uint32_t by : SetBits(observation.lanes)) {
        if (happens_before(engine, reading.thread(by).place(), observation.time, actor, lane)) {
          visit(reading, observation);
          break;
        }
      }
    }
  };
  if (actor.cta.observations.empty()) {
    return;
  }
  visit_those_of(actor.warp);
  for (WarpState& warp : actor.cta.warps) {
    if (&warp != &actor.warp) {
      visit_those_of(warp);
    }
  }
}

using Note = std::optional<SyncNotes::Answer>;

// What the two threads of a race did at barriers, where that is a reason for it.
struct Meetings {
  Meetings(const EngineState& of, const RaceEvent& race) : engine(of), kind(race.kind) {}

  const EngineState& engine;
  RaceKind kind;
  Note before_first, after_first,
      before_second;  // the last before the first access, the last of all

  void explain(RaceEvent& race) const;

 private:
  [[nodiscard]] const wire::SiteInfo* site(const Note& note) const {
    return note && note->site ? &engine.site(index_of(*note->site)) : nullptr;
  }

  [[nodiscard]] bool is(const Note& note, std::initializer_list<wire::Operation> operations) const {
    const wire::SiteInfo* const at = site(note);
    return at != nullptr && std::ranges::find(operations, at->operation) != operations.end();
  }

  [[nodiscard]] bool is_arrival(const Note& note) const {
    return is(note, {wire::Operation::kBarrierArrive, wire::Operation::kMbarrierArrive,
                     wire::Operation::kClusterArrive});
  }

  // The wait is for what such an arrival completes.
  [[nodiscard]] bool fits(const Note& arrival, const Note& wait) const {
    const bool is_named = is(arrival, {wire::Operation::kBarrierArrive});
    return (is_named && is(wait, {wire::Operation::kBarrier}) && is_same_barrier(arrival, wait)) ||
           (is(arrival, {wire::Operation::kMbarrierArrive}) &&
            is(wait, {wire::Operation::kMbarrierWait})) ||
           (is(arrival, {wire::Operation::kClusterArrive}) &&
            is(wait, {wire::Operation::kClusterWait}));
  }

  // The second waited for what the first arrived at before its access.
  [[nodiscard]] bool is_after_arrival() const {
    return fits(before_first, before_second) &&
           (!is(before_first, {wire::Operation::kMbarrierArrive}) ||
            is_same_place(before_first, before_second));
  }

  // The first arrived at one mbarrier after its access, and the second waited at another.
  [[nodiscard]] bool are_apart() const {
    return is(after_first, {wire::Operation::kMbarrierArrive}) &&
           !is_same_place(after_first, before_second);
  }

  // Of mbarriers: where they lie.
  static bool is_same_place(const Note& one, const Note& other) {
    return one && other && one->members == other->members;
  }

  // A barrier that some warps of the block have to themselves.
  [[nodiscard]] bool is_of_some(const Note& note) const {
    return is(note, {wire::Operation::kBarrier, wire::Operation::kBarrierArrive}) &&
           note->threads != 0;
  }

  [[nodiscard]] bool is_same_barrier(const Note& one, const Note& other) const {
    return is_of_some(one) && is_of_some(other) && one->members == other->members &&
           one->threads == other->threads;
  }

  [[nodiscard]] Lack lack_of_arrival() const;
  [[nodiscard]] Lack lack_of_members(const RaceEvent& race) const;
};

Lack Meetings::lack_of_arrival() const {
  if (is_arrival(before_second)) {
    return {.missing = MissingOrder::kArrivalDoesNotWait, .about = before_second->site};
  }
  // In a ring of mbarriers the next arrival is at another one, and the last one tells more.
  if (fits(after_first, before_second) && !(is_after_arrival() && are_apart())) {
    if (site(after_first)->order == wire::MemoryOrder::kRelaxed) {
      return {.missing = MissingOrder::kArrivalRelaxed, .about = after_first->site};
    }
    if (is(after_first, {wire::Operation::kMbarrierArrive})) {
      return {.missing = MissingOrder::kWrongPhase, .about = before_second->site};
    }
  }
  if (is_after_arrival()) {
    return {.missing = MissingOrder::kAfterArrival, .about = before_first->site};
  }
  return before_second && is_arrival(before_first)
             ? Lack{.missing = MissingOrder::kArrivalDoesNotWait, .about = before_first->site}
             : Lack{};
}

Lack Meetings::lack_of_members(const RaceEvent& race) const {
  if (kind == RaceKind::kIntraWarp) {
    const bool leaves_out = is(before_second, {wire::Operation::kWarpBarrier}) &&
                            ((before_second->members >> race.first.thread.lane) & 1) == 0;
    return leaves_out
               ? Lack{.missing = MissingOrder::kWarpMaskTooNarrow, .about = before_second->site}
               : Lack{};
  }
  if (kind != RaceKind::kIntraBlock) {
    return {};
  }
  // Either of the two may come first: what one met before its access is as good as the other's.
  const Note& note = is_of_some(before_second) ? before_second
                     : is_of_some(after_first) ? after_first
                                               : before_first;
  if (!is_of_some(note)) {
    return {};
  }
  const bool is_same =
      is_same_barrier(before_first, before_second) || is_same_barrier(after_first, before_second);
  return {.missing = is_same ? MissingOrder::kNamedBarrierMissing : MissingOrder::kBarrierLeavesOut,
          .about = note->site};
}

void Meetings::explain(RaceEvent& race) const {
  Lack lack = lack_of_arrival();
  if (lack.missing == MissingOrder::kNoSynchronisation) {
    lack = lack_of_members(race);
  }
  if (lack.missing != MissingOrder::kNoSynchronisation) {
    race.missing = lack.missing;
    race.about = lack.about;
  }
}

constexpr Time kNow = ~Time{0};

void fill(RaceAccess& side, const std::optional<SyncNotes>& notes, Time time) {
  const auto answer = notes ? notes->before(side.thread.lane, time) : std::nullopt;
  side.last_sync = !answer         ? LastSync::kUnknown
                   : !answer->site ? LastSync::kNone
                                   : LastSync::kKnown;
  side.last_sync_site = answer ? answer->site.value_or(wire::SiteId{}) : wire::SiteId{};
  if (notes) {
    side.syncs = notes->steps(side.thread.lane, time);
    side.has_all_syncs = notes->has_all();
  }
}

std::optional<SyncNotes> notes_of(const EngineState& engine, const Cell& cell) {
  if (const auto running = engine.running.find(cell.launch()); running != engine.running.end()) {
    if (auto notes = running->second->notes_of(cell.cta_index(), cell.warp)) {
      return notes;
    }
  }
  return engine.past_notes.find(cell.cta, cell.warp);
}

}  // namespace

void explain(EngineState& engine, const Actor& actor, const Cell& older, RaceEvent& race) {
  const ThreadRef& first = race.first.thread;
  const bool is_settled = older.is_settled();
  const Time first_time = is_settled ? Time{1} : older.time;
  const std::uint32_t lane = race.second.thread.lane;
  const Earlier earlier{
      .thread = {.cta = CtaKey(first.launch, first.cta),
                 .cluster = 0,
                 .warp = first.warp,
                 .lane = first.lane},
      .time = first_time,
      .needed = race.needed_scope,
      .site = race.first.site.instruction(),
      .settled_site = is_settled ? std::optional(race.first.site.instruction()) : std::nullopt};
  if (race.first.site == race.second.site && earlier.thread.cta == actor.cta.key &&
      first.warp == actor.warp.warp() && first_time == actor.warp.now()) {
    return;  // lanes of one instruction: no flag that either sets or sees lies between
  }
  Lack best;
  bool is_last = true;
  for_each_observation(
      engine, actor, lane, [&](const Actor& reading, const WarpObservation& observation) {
        const bool is_own = &reading.warp == &actor.warp && ((observation.lanes >> lane) & 1) != 0;
        if (std::exchange(is_last, is_last && !is_own) && is_own &&
            may_be_guarded(engine, race.second) && was_refused(engine, actor, observation)) {
          best = {
              .missing = MissingOrder::kLockNotTaken, .about = observation.site, .weight = kDirect};
        }
        look_at(engine, actor, earlier, reading, observation, best);
      });
  const auto awaited = is_settled ? std::nullopt : awaited_fence(actor.warp.state(lane), earlier);
  if (awaited && best.missing != MissingOrder::kLockNotTaken) {
    race.missing = *awaited;
    return;
  }
  race.missing = best.missing;
  race.about = best.about;
}

void explain_asynchronous(const Actor& actor, const Cell& older, RaceEvent& race) {
  const LaunchState& launch = actor.cta.launch;
  const bool is_near =
      older.launch() == actor.launch() && launch.cluster_of(older.cta_index()) == actor.cta.cluster;
  // What threads of other clusters do now is not for this thread to look at; nor could it wait.
  const CtaState* cta = is_near ? launch.known_cta(older.cta_index()) : nullptr;
  race.missing =
      cta == nullptr ? MissingOrder::kNoSynchronisation : MissingOrder::kAsyncWaitMissing;
  if (cta == nullptr || race.second.thread == race.first.thread) {
    return;
  }
  const WarpState& warp = cta->warps[older.warp];
  const std::uint32_t issuer = race.first.thread.lane;
  const ClockPlace place = older.place_of(issuer);
  const std::optional<Completion> completion = completion_of(place.slot);
  if (!older.has_own_completion() || !completion) {
    if (warp.state(issuer).clock.at(place) >= older.time) {
      race.missing = MissingOrder::kNoSynchronisation;
    }
    return;
  }
  const Completions* completions = warp.known_completions();
  if (completions == nullptr || completions->waited(*completion, issuer) < older.time) {
    return;
  }
  // The copy's issuer has waited, and no other thread can: a barrier is missing, unless it came
  // before the wait.
  const auto wait = warp.sync_notes.last(issuer);
  const auto before = wait ? warp.sync_notes.before(issuer, wait->time) : std::nullopt;
  const auto met = actor.warp.sync_notes.last(race.second.thread.lane);
  if (!before || !before->site || !met || met->site != before->site) {
    race.missing = MissingOrder::kNoSynchronisation;
  }
}

void tell_last_sync(const SyncNotes& notes_up_to_now, RaceAccess& side) {
  fill(side, notes_up_to_now, kNow);
}

void tell_last_sync(const EngineState& engine, const Cell& cell, RaceAccess& side) {
  const std::optional<SyncNotes> notes =
      cell.is_asynchronous() || cell.is_settled() ? std::nullopt : notes_of(engine, cell);
  fill(side, notes, cell.time);
}

void tell_last_syncs(const EngineState& engine, const Actor& actor, const Cell& older,
                     RaceEvent& race) {
  tell_last_sync(actor.warp.sync_notes, race.second);
  const bool has_time = !older.is_asynchronous() && !older.is_settled();
  const std::optional<SyncNotes> notes = !has_time ? std::nullopt
                                         : older.cta == actor.cta.key
                                             ? std::optional(actor.cta.warps[older.warp].sync_notes)
                                             : notes_of(engine, older);
  fill(race.first, notes, older.time);
  if (notes && race.missing == MissingOrder::kNoSynchronisation &&
      older.launch() == actor.launch()) {
    const std::uint32_t lane = race.first.thread.lane;
    Meetings meetings(engine, race);
    meetings.before_first = notes->before(lane, older.time);
    meetings.after_first = notes->last(lane);
    meetings.before_second = actor.warp.sync_notes.last(race.second.thread.lane);
    if (meetings.after_first && meetings.after_first->time < older.time) {
      meetings.after_first.reset();
    }
    meetings.explain(race);
  }
}

}  // namespace barracuda::detector
