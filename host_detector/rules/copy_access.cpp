// The part of the check that copies by the host need: they are not in the shadow, but in a list
// that launches look through that may run beside one.
#include <algorithm>
#include <utility>

#include "host_detector/rules/access.h"
#include "host_detector/rules/copy_check.h"
#include "host_detector/rules/explanation.h"

namespace barracuda::detector {

RaceAccess describe_entry(const EngineState& engine, const Entry& entry, std::uint32_t lane,
                          std::uint64_t address, wire::AddressSpace space) {
  const std::uint32_t element =
      entry.is_of_mbarrier() ? 8
                             : std::max<std::uint32_t>(1, engine.site(entry.site).element_bytes);
  return {.site = wire::SiteId{entry.site},
          .call_stack = {},
          .thread = {.launch = entry.launch(),
                     .cta = entry.cta_index(),
                     .warp = entry.warp,
                     .lane = static_cast<std::uint8_t>(lane)},
          .space = space,
          .address = address / element * element,
          .size = std::max(element, entry.extent())};
}

void AccessCheck::meet_host_copies(Access& access, const Entry& entry) {
  if (access.mode == Mode::kRecord) {
    return;  // checked before
  }
  const std::uint64_t start = access.block_start;
  engine_.copies.for_each(
      start + entry.bytes.first(), start + kBlockBytes,
      [&](const LiveCopy& copy, std::uint64_t first, std::uint64_t last) {
        if (entry.writes() || copy.rows.is_written) {
          meet_host_copy(access, entry, copy,
                         entry.bytes & Bytes::range(static_cast<std::uint32_t>(first - start),
                                                    static_cast<std::uint32_t>(last - first)));
        }
      });
}

void AccessCheck::meet_host_copy(Access& access, const Entry& entry, const LiveCopy& copy,
                                 const Bytes& bytes) {
  const ThreadPlace copier{.cta = cta_key(copy.id, 0)};
  std::uint32_t ordered = 0;  // lanes
  for (Bytes rest = bytes; !rest.none(); rest = rest.after_first()) {
    const std::uint32_t byte = rest.first();
    for (std::uint32_t lanes = entry.lanes_at(byte) & ~ordered; lanes != 0; lanes &= lanes - 1) {
      const std::uint32_t lane = first_lane(lanes);
      if (happens_before(engine_, copier, 1, access.actor, lane)) {
        ordered |= std::uint32_t{1} << lane;
        continue;
      }
      RaceEvent race = copy_race(copy.operation, describe_copy(copy),
                                 describe_entry(engine_, entry, lane, access.block_start + byte),
                                 access.site.speculated);
      if (!engine_.log.count_again(race)) {
        race.second.call_stack = engine_.stacks.calls(entry.stack);
        tell_last_sync(access.actor.warp.sync_notes, race.second);
        engine_.log.add(std::move(race));
      }
      return;
    }
  }
}

}  // namespace barracuda::detector
