#include "host_detector/races/race_report.h"

#include <algorithm>
#include <utility>

#include "host_detector/races/cell_order.h"
#include "host_detector/races/copy_check.h"
#include "host_detector/races/explanation.h"

namespace barracuda::detector {
namespace {

RaceKind kind_of(const Cell& older, const Cell& newer) {
  return older.launch() != newer.launch() ? RaceKind::kInterKernel
         : older.cta != newer.cta         ? RaceKind::kInterBlock
         : older.warp != newer.warp       ? RaceKind::kIntraBlock
                                          : RaceKind::kIntraWarp;
}

std::uint32_t element_bytes_of(const EngineState& engine, const Cell& cell) {
  return cell.is_of_mbarrier() ? 8
                               : std::max<std::uint32_t>(1, engine.site(cell.site).element_bytes);
}

// `bytes` of the block are of the access and of the copy.
void report_race_with_copy(const PlacedPiece& access, const LiveCopy& copy, const Bytes& bytes) {
  EngineState& engine = access.engine();
  const Cell& cell = access.piece.cell;
  const ClockPlace copier{.cta = CtaKey(copy.id, 0)};
  std::uint32_t ordered = 0;  // lanes
  for (Bytes rest = bytes; !rest.none(); rest = rest.after_first()) {
    const std::uint32_t byte = rest.first();
    for (const std::uint32_t lane : SetBits(cell.lanes_at(byte) & ~ordered)) {
      if (happens_before(engine, copier, 1, access.actor(), lane)) {
        ordered |= std::uint32_t{1} << lane;
        continue;
      }
      RaceEvent race = copy_race(copy.operation, describe_copy(copy),
                                 describe_cell(engine, cell, lane, access.block_start() + byte),
                                 access.site().speculated);
      if (!engine.log.count_again(race)) {
        race.second.call_stack = engine.stacks.calls(cell.stack);
        tell_last_sync(access.actor().warp.sync_notes, race.second);
        if (copy.id > access.actor().cta.launch.newest_copy) {
          std::swap(race.first, race.second);  // the host asked for the launch first
        }
        engine.log.add(std::move(race));
      }
      return;
    }
  }
}

}  // namespace

RaceAccess describe_cell(const EngineState& engine, const Cell& cell, std::uint32_t lane,
                         std::uint64_t address, wire::AddressSpace space) {
  const std::uint32_t element = element_bytes_of(engine, cell);
  return {.site = wire::SiteId{cell.site},
          .call_stack = {},
          .thread = {.launch = cell.launch(),
                     .cta = cell.cta_index(),
                     .warp = cell.warp,
                     .lane = static_cast<std::uint8_t>(lane)},
          .space = space,
          .address = address / element * element,
          .size = std::max(element, cell.extent())};
}

void report(const PlacedPiece& access, const Cell& older, const Cell& newer,
            const Conflict& conflict) {
  EngineState& engine = access.engine();
  const RaceKind kind = kind_of(older, newer);
  const wire::AddressSpace space = access.place.space();
  const std::uint64_t address = access.block_start() + conflict.byte;
  const std::uint32_t element = element_bytes_of(engine, older);
  if (engine.log.count_again(RaceLog::Identity::of(older.site, newer.site, kind, space),
                             conflict.verdict.severity, address / element * element,
                             conflict.races)) {
    return;
  }
  RaceEvent race;
  race.kind = kind;
  race.first = describe_cell(engine, older, conflict.older_lane, address, space);
  race.second = describe_cell(engine, newer, conflict.lane, address, space);
  if (access.place.shared_of != nullptr) {
    race.shared_of = access.place.shared_of->index;
  }
  race.severity = conflict.verdict.severity;
  race.missing = conflict.verdict.missing;
  race.count = conflict.races;
  race.needed_scope = distance_between(older.cta, access.actor());
  race.first.call_stack = engine.stacks.calls(older.stack);
  race.second.call_stack = engine.stacks.calls(newer.stack);
  if (conflict.is_ordered && is_between_proxies(access, older)) {
    race.missing = access.site().proxy == wire::Proxy::kTensorMap
                       ? MissingOrder::kMapFenceMissing
                       : MissingOrder::kProxyFenceMissing;
  } else if (older.is_asynchronous()) {
    explain_asynchronous(access.actor(), older, race);
  } else if (access.actor().cta.launch.runs_beside(older.launch())) {
    race.missing = MissingOrder::kGridWaitMissing;
  } else if (race.missing == MissingOrder::kNoSynchronisation) {
    explain(engine, access.actor(), older, race);
  }
  tell_last_syncs(engine, access.actor(), older, race);
  engine.log.add(std::move(race));
}

void report_races_with_copies(const PlacedPiece& access) {
  const Cell& cell = access.piece.cell;
  const std::uint64_t start = access.block_start();
  access.engine().copies.for_each(
      start + cell.bytes.first(), start + kBlockBytes,
      [&](const LiveCopy& copy, std::uint64_t first, std::uint64_t last) {
        if (cell.writes() || copy.rows.is_written) {
          report_race_with_copy(
              access, copy,
              cell.bytes & Bytes::range(static_cast<std::uint32_t>(first - start),
                                        static_cast<std::uint32_t>(last - first)));
        }
      });
}

}  // namespace barracuda::detector
