// The part of the check that copies by the host need: they are not in the shadow, but in a list
// that launches look through that may run beside one.
#include <algorithm>
#include <utility>

#include "host_detector/races/access.h"
#include "host_detector/races/copy_check.h"
#include "host_detector/races/explanation.h"

namespace barracuda::detector {

RaceAccess describe_cell(const EngineState& engine, const Cell& cell, std::uint32_t lane,
                         std::uint64_t address, wire::AddressSpace space) {
  const std::uint32_t element =
      cell.is_of_mbarrier() ? 8 : std::max<std::uint32_t>(1, engine.site(cell.site).element_bytes);
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

void AccessCheck::check_against_copies(Access& access, const Cell& cell) {
  if (access.mode == Mode::kRecord) {
    return;  // checked before
  }
  const std::uint64_t start = access.block_start;
  engine_.copies.for_each(
      start + cell.bytes.first(), start + kBlockBytes,
      [&](const LiveCopy& copy, std::uint64_t first, std::uint64_t last) {
        if (cell.writes() || copy.rows.is_written) {
          check_against_copy(access, cell, copy,
                             cell.bytes & Bytes::range(static_cast<std::uint32_t>(first - start),
                                                       static_cast<std::uint32_t>(last - first)));
        }
      });
}

void AccessCheck::check_against_copy(Access& access, const Cell& cell, const LiveCopy& copy,
                                     const Bytes& bytes) {
  const ThreadKey copier{.cta = cta_key(copy.id, 0)};
  std::uint32_t ordered = 0;  // lanes
  for (Bytes rest = bytes; !rest.none(); rest = rest.after_first()) {
    const std::uint32_t byte = rest.first();
    for (std::uint32_t lanes = cell.lanes_at(byte) & ~ordered; lanes != 0; lanes &= lanes - 1) {
      const std::uint32_t lane = first_lane(lanes);
      if (happens_before(engine_, copier, 1, access.actor, lane)) {
        ordered |= std::uint32_t{1} << lane;
        continue;
      }
      RaceEvent race = copy_race(copy.operation, describe_copy(copy),
                                 describe_cell(engine_, cell, lane, access.block_start + byte),
                                 access.site.speculated);
      if (!engine_.log.count_again(race)) {
        race.second.call_stack = engine_.stacks.calls(cell.stack);
        tell_last_sync(access.actor.warp.sync_notes, race.second);
        engine_.log.add(std::move(race));
      }
      return;
    }
  }
}

}  // namespace barracuda::detector
