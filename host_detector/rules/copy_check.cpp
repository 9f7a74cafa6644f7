#include "host_detector/rules/copy_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host_detector/rules/access_check.h"
#include "host_detector/rules/explanation.h"
#include "host_detector/rules/observation.h"

namespace barracuda::detector {
namespace {

// Entries of one launch mostly lie together.
class Memory {
 public:
  template <typename Ask>
  bool answer(LaunchId launch, Ask ask) {
    if (last_ != launch) {
      last_ = launch;
      answer_ = ask();
    }
    return answer_;
  }

 private:
  std::optional<LaunchId> last_;
  bool answer_ = false;
};

}  // namespace

struct CopyCheck::Comer {
  const CopyInfo& copy;
  Clock clock;
  mutable Memory before = {};  // launches that are ordered before it
};

RaceAccess describe_copy(LaunchId id, std::uint32_t call, const MemoryRows& rows) {
  return {.site = call_site(call),
          .call_stack = {},
          .thread = {.launch = id},
          .space = wire::AddressSpace::kGlobal,
          .address = rows.address,
          .size = rows.row_bytes * rows.rows};
}

RaceEvent copy_race(const RaceAccess& first, const RaceAccess& second) {
  RaceEvent race;
  race.kind = RaceKind::kKernelCopy;
  race.needed_scope = wire::Scope::kSys;
  race.first = first;
  race.second = second;
  return race;
}

void CopyCheck::drop_old(const CopyInfo& copy) {
  const LaunchOrder& order = engine_.order;
  Memory last;
  engine_.copies.shrink([&](LaunchId old) {
    return last.answer(old, [&] {
      const bool is_past = std::ranges::any_of(copy.host_waited, [&](LaunchId waited) {
        return waited == old || order.is_before(old, waited);
      });
      return is_past && std::ranges::all_of(engine_.running, [&](const auto& running) {
               return order.is_before(old, running.first);
             });
    });
  });
}

void CopyCheck::apply(const CopyInfo& copy) {
  LaunchOrder& order = engine_.order;
  if (!order.knows(copy.id)) {
    order.add(copy.id, copy.ordered_after);
  }
  Comer comer{.copy = copy, .clock = engine_.finals.of(copy.ordered_after)};
  drop_old(copy);
  const bool has_others = !order.is_after_all(copy.id);
  if (has_others) {
    engine_.copies.settle(order);
    for (const MemoryRows& rows : copy.accesses) {
      meet_shadow(comer, rows);
      meet_copies(comer, rows);
    }
  }
  engine_.copies.add(copy, order);
  bool is_met = false;
  for (auto& [id, launch] : engine_.running) {
    if (!order.is_before(copy.id, id)) {
      launch->may_meet_copies = is_met = true;
    }
  }
  if (is_met) {
    engine_.copies.settle(order);
  }
  engine_.finals.add(copy.id, std::move(comer.clock));
}

void CopyCheck::begin_launch(LaunchState& launch) {
  if (engine_.copies.has_others(launch.info.id, engine_.order)) {
    launch.may_meet_copies = true;
    engine_.copies.settle(engine_.order);
  }
}

void CopyCheck::forget(std::uint64_t address, std::uint64_t bytes) {
  engine_.copies.forget(address, bytes, engine_.order);
}

bool CopyCheck::is_before(const Comer& comer, LaunchId launch) const {
  return comer.before.answer(launch, [&] {
    const auto is_ordered = [&](LaunchId known) { return engine_.order.is_before(launch, known); };
    return is_ordered(comer.copy.id) || engine_.order.is_before(comer.copy.id, launch) ||
           comer.clock.knows_launch(is_ordered);
  });
}

void CopyCheck::meet_shadow(const Comer& comer, const MemoryRows& rows) {
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    const std::uint64_t begin = rows.address + row * rows.pitch;
    engine_.global.look_at(begin, rows.row_bytes,
                           [&](std::uint64_t block_start, const Entry& entry, const Bytes& bytes) {
                             meet_entry(comer, rows, block_start, entry, bytes);
                           });
  }
}

void CopyCheck::meet_entry(const Comer& comer, const MemoryRows& rows, std::uint64_t block_start,
                           const Entry& entry, const Bytes& bytes) {
  if (!entry.writes() && !rows.is_written) {
    return;
  }
  const LaunchId launch = entry.launch();
  if (is_before(comer, launch)) {
    return;
  }
  const auto is_known = [&](CtaKey cta, std::uint32_t warp, std::uint32_t lane, Tick tick) {
    return comer.clock.at(cta, warp, lane) >= tick;
  };
  const auto was_seen_before = [&](const Observation& sight) {
    const ThreadPlace& by = sight.thread;
    return is_before(comer, launch_of(by.cta)) || is_known(by.cta, by.warp, by.lane, sight.tick);
  };
  const PackedLine line = PackedLine::of(entry.value);
  for (Bytes rest = entry.bytes & bytes; !rest.none(); rest = rest.after_first()) {
    const std::uint32_t byte = rest.first();
    for (std::uint32_t lanes = entry.lanes_at(byte); lanes != 0; lanes &= lanes - 1) {
      const std::uint32_t lane = first_lane(lanes);
      const bool is_ordered = entry.is_asynchronous()
                                  ? is_known(cta_key(launch, line.cta), line.warp,
                                             entry.has_own_line() ? lane : line.lane, entry.tick)
                                  : is_known(entry.cta, entry.warp, lane, entry.tick) ||
                                        was_observed(engine_, engine_.global_locations, entry,
                                                     block_start + byte, was_seen_before);
      if (is_ordered) {
        continue;
      }
      RaceEvent race = copy_race(describe_entry(engine_, entry, lane, block_start + byte),
                                 describe_copy(comer.copy.id, comer.copy.call, rows));
      if (!engine_.log.count_again(race)) {
        race.first.call_stack = engine_.stacks.calls(entry.stack);
        tell_last_sync(engine_, entry, race.first);
        engine_.log.add(std::move(race));
      }
      return;
    }
  }
}

void CopyCheck::meet_copies(const Comer& comer, const MemoryRows& rows) {
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    const std::uint64_t begin = rows.address + row * rows.pitch;
    engine_.copies.for_each(begin, begin + rows.row_bytes, [&](const LiveCopy& other, auto...) {
      const LaunchId mine = comer.copy.id;
      if ((!rows.is_written && !other.rows.is_written) || other.id == mine ||
          is_before(comer, other.id)) {
        return;
      }
      RaceEvent race = copy_race(describe_copy(other.id, other.call, other.rows),
                                 describe_copy(mine, comer.copy.call, rows));
      if (!engine_.log.count_again(race)) {
        engine_.log.add(std::move(race));
      }
    });
  }
}

}  // namespace barracuda::detector
