#include "host_detector/rules/explanation.h"

#include <algorithm>
#include <optional>

namespace barracuda::detector {
namespace {

struct Earlier {
  CtaKey cta{};
  std::uint32_t warp = 0, lane = 0;
  Tick tick = 0;

  [[nodiscard]] bool is_in(const Clock& clock) const { return clock.at(cta, warp, lane) >= tick; }

  [[nodiscard]] bool is_own(const ThreadPlace& thread, Tick own) const {
    return thread.cta == cta && thread.warp == warp && thread.lane == lane && own >= tick;
  }
};

// What a hand-over through `writer` lacked, if the earlier access precedes it.
std::optional<MissingOrder> lack_of(const Writer& writer, const Earlier& earlier,
                                    const Sighting& sighting, wire::Scope needed) {
  if (!earlier.is_in(writer.known) && !earlier.is_own(writer.thread, writer.now)) {
    return std::nullopt;
  }
  if (!writer.is_release && !earlier.is_in(writer.fenced) &&
      !earlier.is_own(writer.thread, writer.fenced_own)) {
    return MissingOrder::kReleaseFenceMissing;
  }
  if (std::min(writer.access_scope, sighting.scope) < needed) {
    return MissingOrder::kScopeTooNarrow;
  }
  return std::nullopt;
}

bool awaits_fence(const ThreadState& state, const Earlier& earlier) {
  return state.fences != nullptr &&
         earlier.is_in(state.fences->pending[index_of_level(Level::kDevice)]);
}

bool is_barrier_of_cta(const EngineState& engine, wire::SiteId id) {
  const wire::Operation operation = engine.site(static_cast<std::uint32_t>(id)).operation;
  return operation == wire::Operation::kBarrier || operation == wire::Operation::kBarrierArrive;
}

void fill(RaceAccess& side, const std::optional<SyncNotes::Answer>& answer) {
  side.last_sync = !answer         ? LastSync::kUnknown
                   : !answer->site ? LastSync::kNone
                                   : LastSync::kKnown;
  side.last_sync_site = answer ? answer->site.value_or(wire::SiteId{}) : wire::SiteId{};
}

std::optional<SyncNotes> notes_of(const EngineState& engine, const Entry& entry) {
  if (const auto running = engine.running.find(entry.launch()); running != engine.running.end()) {
    if (auto notes = running->second->notes_of(entry.cta_index(), entry.warp)) {
      return notes;
    }
  }
  return engine.past_notes.find(entry.cta, entry.warp);
}

}  // namespace

void explain(EngineState& engine, const Actor& actor, Tick first_tick, RaceEvent& race) {
  const Earlier earlier{.cta = cta_key(race.first.thread.launch, race.first.thread.cta),
                        .warp = race.first.thread.warp,
                        .lane = race.first.thread.lane,
                        .tick = first_tick};
  const ThreadState& state = actor.warp.state(race.second.thread.lane);
  if (awaits_fence(state, earlier)) {
    race.missing = state.fences->left_pending ? MissingOrder::kScopeTooNarrow
                                              : MissingOrder::kAcquireFenceMissing;
    return;
  }
  const std::size_t count =
      std::min<std::size_t>(actor.cta.sighting_count, actor.cta.sightings.size());
  for (std::size_t index = 0; index < count; ++index) {
    const Sighting& sighting = actor.cta.sightings[index];
    const std::optional<Place> place = place_of(sighting.tagged, actor, sighting.size);
    const SyncLocation* location =
        place ? locations_of(engine, *place).find(place->address, sighting.size) : nullptr;
    if (location == nullptr) {
      continue;
    }
    std::optional<MissingOrder> lack;
    bool could_order = false;  // some hand-over precedes, and lacks nothing on the writer's side
    location->for_each_seen(sighting.value, [&](const Writer& writer) {
      if (!lack) {
        lack = lack_of(writer, earlier, sighting, race.needed_scope);
        could_order =
            could_order || earlier.is_in(writer.known) || earlier.is_own(writer.thread, writer.now);
      }
    });
    if (lack) {
      race.missing = *lack;
      return;
    }
    if (could_order) {
      // Fences on both sides and wide accesses: a fence of too narrow a scope, or none after.
      race.missing = MissingOrder::kScopeTooNarrow;
      return;
    }
  }
}

void explain_asynchronous(const Actor& actor, const Entry& older, RaceEvent& race) {
  race.missing = MissingOrder::kAsyncWaitMissing;
  const std::uint32_t line = PackedLine::of(older.value).warp / wire::kWarpLanes - 1;
  if (!older.has_own_line() || line >= kLineCount) {
    return;
  }
  const LaunchState& launch = actor.cta.launch;
  const bool is_near =
      older.launch() == actor.launch() && launch.cluster_of(older.cta_index()) == actor.cta.cluster;
  // What threads of other clusters do now is not for this thread to look at.
  const CtaState* cta = is_near ? launch.known_cta(older.cta_index()) : nullptr;
  if (cta == nullptr) {
    return;
  }
  const AsyncLines* lines = cta->warps[older.warp].known_lines();
  const ThreadRef& copier = race.first.thread;
  const bool is_issuer = race.second.thread == copier;
  if (!is_issuer && lines != nullptr &&
      lines->waited(static_cast<Line>(line), copier.lane) >= older.tick) {
    race.missing = MissingOrder::kNoSynchronisation;  // its issuer has waited, nobody else can
  }
}

void tell_last_sync(const SyncNotes& notes_up_to_now, RaceAccess& side) {
  fill(side, notes_up_to_now.last(side.thread.lane));
}

void tell_last_sync(const EngineState& engine, const Entry& entry, RaceAccess& side) {
  const std::optional<SyncNotes> notes =
      entry.is_asynchronous() ? std::nullopt : notes_of(engine, entry);
  fill(side, notes ? notes->before(side.thread.lane, entry.tick) : std::nullopt);
}

void tell_last_syncs(const EngineState& engine, const Actor& actor, const Entry& older,
                     RaceEvent& race) {
  tell_last_sync(actor.warp.sync_notes, race.second);
  if (older.cta != actor.cta.key || older.is_asynchronous()) {
    tell_last_sync(engine, older, race.first);
    return;
  }
  const SyncNotes& notes = actor.cta.warps[older.warp].sync_notes;
  fill(race.first, notes.before(race.first.thread.lane, older.tick));
  const auto is_barrier = [&](const std::optional<SyncNotes::Answer>& answer) {
    return answer && answer->site && is_barrier_of_cta(engine, *answer->site);
  };
  const auto newest = notes.last(race.first.thread.lane);
  const auto mine = actor.warp.sync_notes.last(race.second.thread.lane);
  if (race.missing == MissingOrder::kNoSynchronisation && is_barrier(newest) &&
      newest->tick >= older.tick && mine && !is_barrier(mine)) {
    race.missing = MissingOrder::kBarrierOnOnePath;
  }
}

}  // namespace barracuda::detector
