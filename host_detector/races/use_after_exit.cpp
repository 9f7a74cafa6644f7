#include "host_detector/races/use_after_exit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strong_id.h"
#include "host_detector/races/explanation.h"
#include "host_detector/races/race_report.h"

namespace barracuda::detector {
namespace {

// The exit, where the other side used the memory; of no bytes.
RaceAccess describe_exit(const RaceAccess& use, std::uint32_t cta, const BlockEnd& end) {
  RaceAccess exit = use;
  exit.site = end.site;
  exit.call_stack.clear();
  exit.size = 0;
  exit.thread = {.launch = use.thread.launch, .cta = cta, .warp = end.warp, .lane = end.lane};
  exit.last_sync = LastSync::kNotAsked;
  return exit;
}

RaceEvent use_of_ended(const RaceAccess& use, const RaceAccess& exit, bool exit_is_second) {
  RaceEvent race;
  race.kind = RaceKind::kUseAfterExit;
  race.needed_scope = wire::Scope::kCluster;
  race.first = exit_is_second ? use : exit;
  race.second = exit_is_second ? exit : use;
  return race;
}

bool knows(const Clock& clock, const Cell& cell, std::uint32_t lane) {
  return clock.at(cell.place_of(lane)) >= cell.time;
}

struct Unknown {
  std::uint32_t byte = 0, lane = 0;
};

std::optional<Unknown> first_unknown(const Clock& clock, const Cell& cell) {
  std::uint32_t known = 0;  // lanes
  for (Bytes rest = cell.bytes; !rest.none(); rest = rest.after_first()) {
    for (std::uint32_t lanes = cell.lanes_at(rest.first()) & ~known; lanes != 0;
         lanes &= lanes - 1) {
      const std::uint32_t lane = first_lane(lanes);
      if (!knows(clock, cell, lane)) {
        return Unknown{.byte = rest.first(), .lane = lane};
      }
      known |= std::uint32_t{1} << lane;
    }
  }
  return std::nullopt;
}

// A copy's data tell of it as well: on its mbarrier it arrives when they are there, and its
// issuer's time says nothing of that.
bool is_arrival_of_copy(const EngineState& engine, const Cell& cell) {
  const wire::Operation operation = engine.site(cell.site).operation;
  return cell.is_of_mbarrier() &&
         (operation == wire::Operation::kCopy || operation == wire::Operation::kTensorCopy);
}

}  // namespace

void keep_end(const Actor& actor, const WarpOperation& operation) {
  CtaState& cta = actor.cta;
  actor.warp.join_completions(operation.mask);
  actor.warp.for_each_state(operation.mask, [&](std::uint32_t, const ThreadState& state) {
    if (!cta.known_at_end.covers(state.clock)) {
      cta.known_at_end.join(state.clock);
    }
  });
  cta.end = {.site = operation.site,
             .warp = static_cast<std::uint8_t>(actor.warp.warp()),
             .lane = static_cast<std::uint8_t>(first_lane(operation.mask))};
}

void report_uses_before_exit(EngineState& engine, const Actor& actor) {
  const CtaState& cta = actor.cta;
  const std::optional<BlockEnd> end = cta.end;
  if (!end) {
    return;
  }
  cta.shared.look_at([&](std::uint64_t block_start, const Cell& cell) {
    if (cell.cta == cta.key || is_arrival_of_copy(engine, cell)) {
      return;
    }
    const std::optional<Unknown> use = first_unknown(cta.known_at_end, cell);
    if (!use) {
      return;
    }
    const RaceAccess access = describe_cell(engine, cell, use->lane, block_start + use->byte,
                                            wire::AddressSpace::kShared);
    RaceEvent race = use_of_ended(access, describe_exit(access, cta.index, *end), true);
    if (!engine.log.count_again(race)) {
      race.first.call_stack = engine.stacks.calls(cell.stack);
      tell_last_sync(engine, cell, race.first);
      engine.log.add(std::move(race));
    }
  });
}

bool report_use_after_exit(EngineState& engine, const Actor& actor, wire::SiteId site,
                           std::uint32_t lane, std::uint64_t tagged, std::uint32_t bytes) {
  const LaunchState& launch = actor.cta.launch;
  if (wire::space_of(tagged) != wire::AddressSpace::kSharedCluster) {
    return false;
  }
  const std::uint64_t address = wire::address_of(tagged);
  const auto owner = launch.cta_of_rank(actor.cta.index, static_cast<std::uint32_t>(address >> 32));
  const std::optional<BlockEnd> end = owner ? launch.end_of(*owner) : std::nullopt;
  if (!end) {
    return false;
  }
  const RaceAccess use{.site = site,
                       .call_stack = {},
                       .thread = {.launch = launch.info.id,
                                  .cta = actor.cta.index,
                                  .warp = static_cast<std::uint8_t>(actor.warp.warp()),
                                  .lane = static_cast<std::uint8_t>(lane)},
                       .space = wire::AddressSpace::kShared,
                       .address = address & 0xFFFFFFFFU,
                       .size = std::max<std::uint64_t>(1, bytes)};
  RaceEvent race = use_of_ended(use, describe_exit(use, *owner, *end), false);
  if (!engine.log.count_again(race)) {
    race.second.call_stack = engine.stacks.calls(actor.warp.stack(lane));
    tell_last_sync(actor.warp.sync_notes, race.second);
    engine.log.add(std::move(race));
  }
  return true;
}

}  // namespace barracuda::detector
