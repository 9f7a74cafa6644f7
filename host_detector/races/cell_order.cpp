#include "host_detector/races/cell_order.h"

#include "host_detector/races/observation.h"

namespace barracuda::detector {
namespace {

// Up to where `lane` of `warp` waited for the copies of its own that `cell` is one of.
Time waited_for(const WarpState& warp, const Cell& cell, std::uint32_t lane) {
  const std::optional<Completion> completion = completion_of(cell.place_of(lane).slot);
  return warp.known_completions() != nullptr && completion
             ? warp.known_completions()->waited(*completion, lane)
             : 0;
}

bool is_completion_before(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  const WarpState& warp = access.actor().warp;
  const ClockPlace completion = older.place_of(0);
  if (older.has_own_completion()) {
    bool all = older.cta == access.actor().cta.key && older.warp == warp.warp() &&
               older.maps_lanes_like(newer);
    for (std::uint32_t rest = access.piece.lanes; all && rest != 0; rest &= rest - 1) {
      all = waited_for(warp, older, first_lane(rest)) >= older.time;
    }
    if (all) {
      return true;
    }
    return warp.is_uniform() &&
           warp.state(0).clock.floor(completion.cta, completion.slot) >= older.time;
  }
  bool all = true;
  warp.for_each_state(access.piece.lanes, [&](std::uint32_t, const ThreadState& state) {
    all = all && state.clock.at(completion) >= older.time;
  });
  return all;
}

}  // namespace

bool is_all_before(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  const Actor& actor = access.actor();
  const WarpState& warp = actor.warp;
  if (older.is_asynchronous()) {
    return is_completion_before(access, older, newer);
  }
  if (older.cta == actor.cta.key && older.is_settled()) {
    return true;
  }
  if (older.cta == actor.cta.key && older.warp == warp.warp() && older.maps_lanes_like(newer)) {
    return true;
  }
  if (older.launch() != actor.launch() &&
      access.engine().order.is_before(older.launch(), actor.launch())) {
    return true;
  }
  if (warp.is_uniform()) {
    return warp.state(0).clock.floor(older.cta, warp_slot(older.warp)) >= older.time;
  }
  bool all = true;
  warp.for_each_state(access.piece.lanes, [&](std::uint32_t, const ThreadState& state) {
    all = all && state.clock.floor(older.cta, warp_slot(older.warp)) >= older.time;
  });
  return all;
}

namespace {

// A thread that waits for its bulk groups waits for what all its copies have read of their maps,
// including copies that complete at an mbarrier.
bool is_map_read_before(const PlacedPiece& access, const Cell& older, std::uint32_t older_lane,
                        std::uint32_t lane) {
  const Actor& actor = access.actor();
  if (older.cta == actor.cta.key && older.warp == actor.warp.warp() && older_lane == lane &&
      actor.warp.known_completions() != nullptr &&
      actor.warp.known_completions()->waited(Completion::kBulkReads, lane) >= older.sequence) {
    return true;
  }
  const ClockPlace reader{.cta = older.cta,
                          .slot = completion_slot(Completion::kBulkReads, older.warp),
                          .lane = older_lane};
  return happens_before(access.engine(), reader, older.sequence, actor, lane);
}

}  // namespace

bool is_before(const PlacedPiece& access, const Cell& older, std::uint32_t older_lane,
               std::uint32_t lane) {
  const Actor& actor = access.actor();
  if (older.is_asynchronous() &&
      access.engine().site(older.site).proxy == wire::Proxy::kTensorMap &&
      is_map_read_before(access, older, older_lane, lane)) {
    return true;
  }
  if (older.is_asynchronous() && older.has_own_completion() && older.cta == actor.cta.key &&
      older.warp == actor.warp.warp() && older_lane == lane &&
      waited_for(actor.warp, older, lane) >= older.time) {
    return true;
  }
  return happens_before(access.engine(), older.place_of(older_lane), older.time, actor, lane);
}

bool was_observed(const PlacedPiece& access, const Cell& older, std::uint32_t byte,
                  std::uint32_t lane) {
  return was_observed(access.engine(), locations_of(access.engine(), access.place), older,
                      access.block_start() + byte, [&](const Observation& observation) {
                        return happens_before(access.engine(), observation.thread.place(),
                                              observation.time, access.actor(), lane);
                      });
}

bool is_of_one_map_reader(const EngineState& engine, const Cell& older, const Cell& newer) {
  return engine.site(newer.site).proxy == wire::Proxy::kTensorMap &&
         engine.site(older.site).proxy == wire::Proxy::kTensorMap && older.cta == newer.cta &&
         older.warp == newer.warp && older.maps_lanes_like(newer);
}

bool is_between_proxies(const PlacedPiece& access, const Cell& older) {
  if (access.site().proxy == wire::Proxy::kTensorMap) {
    return older.writes() && older.launch() == access.actor().launch();
  }
  return access.site().proxy == wire::Proxy::kAsync && access.piece.cell.is_asynchronous() &&
         older.writes() && older.launch() == access.actor().launch() &&
         (access.engine().site(older.site).proxy != wire::Proxy::kAsync || older.is_of_mbarrier());
}

bool lacks_proxy_fence(const PlacedPiece& access, const Cell& older, std::uint32_t older_lane,
                       std::uint32_t lane) {
  if (!is_between_proxies(access, older)) {
    return false;
  }
  ClockPlace fenced = older.place_of(older_lane);
  fenced.cta = fenced.cta.fenced();
  if (access.site().proxy == wire::Proxy::kTensorMap) {
    fenced.slot = view_slot(MapView::kAcquired, fenced.slot);
  }
  return access.actor().warp.state(lane).clock.at(fenced) < older.time;
}

}  // namespace barracuda::detector
