#include "host_detector/races/copy_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host_detector/races/explanation.h"
#include "host_detector/races/observation.h"
#include "host_detector/races/race_report.h"

namespace barracuda::detector {
namespace {

// Cells of one launch mostly lie together.
class Memory {
 public:
  template <typename Ask>
  bool answer(WorkId launch, Ask ask) {
    if (last_ != launch) {
      last_ = launch;
      answer_ = ask();
    }
    return answer_;
  }

 private:
  std::optional<WorkId> last_;
  bool answer_ = false;
};

RaceKind kind_of(HostOperation operation) {
  switch (operation) {
    case HostOperation::kCopy:
    case HostOperation::kMemset:
    case HostOperation::kConstants:
      return RaceKind::kKernelCopy;
    case HostOperation::kAllocation:
      return RaceKind::kUseBeforeAllocation;
    case HostOperation::kFree:
      return RaceKind::kUseAfterFree;
  }
  return RaceKind::kKernelCopy;
}

}  // namespace

struct CopyCheck::Comer {
  const CopyInfo& copy;
  Clock clock;
  mutable Memory before = {};  // launches that are ordered before it

  [[nodiscard]] LiveCopy as_live(const MemoryRows& rows) const {
    return {.id = copy.id, .operation = copy.operation, .call = copy.call, .rows = rows};
  }

  // By what it learnt of launches that are not ordered before it.
  [[nodiscard]] bool knows(const Cell& cell, std::uint32_t lane) const {
    return clock.at(cell.place_of(lane)) >= cell.time;
  }
};

RaceAccess describe_copy(const LiveCopy& copy) {
  return {.site = copy.call,
          .call_stack = {},
          .thread = {.launch = copy.id},
          .space = wire::AddressSpace::kGlobal,
          .address = copy.rows.address,
          .size = copy.rows.row_bytes * copy.rows.rows};
}

RaceEvent copy_race(HostOperation operation, const RaceAccess& first, const RaceAccess& second,
                    bool is_speculated) {
  RaceEvent race;
  race.kind = kind_of(operation);
  if (is_speculated) {
    race.severity = Severity::kWarning;
    race.missing = MissingOrder::kSpeculatedRead;
  } else if (operation == HostOperation::kConstants) {
    race.severity = Severity::kWarning;  // which of the bytes the kernel read is not known
  }
  race.needed_scope = wire::Scope::kSys;
  race.first = first;
  race.second = second;
  return race;
}

void CopyCheck::drop_old(const CopyInfo& copy) {
  const LaunchOrder& order = engine_.order;
  Memory last;
  const auto is_over = [&](WorkId old) {
    return last.answer(old, [&] {
      const bool is_past = std::ranges::any_of(copy.host_waited, [&](WorkId waited) {
        return waited == old || order.is_before(old, waited);
      });
      return is_past && std::ranges::all_of(engine_.running, [&](const auto& running) {
               return order.is_before(old, running.first);
             });
    });
  };
  engine_.copies.shrink(is_over, order);
}

void CopyCheck::apply(const CopyInfo& copy) {
  LaunchOrder& order = engine_.order;
  if (!order.knows(copy.id)) {
    order.add(copy.id, copy.ordered_after);
  }
  Comer comer{.copy = copy, .clock = engine_.finals.of(copy.ordered_after)};
  drop_old(copy);
  const bool has_others = !order.is_after_all(copy.id);
  if (copy.operation == HostOperation::kFree) {
    for (const MemoryRows& rows : copy.accesses) {
      engine_.copies.forget_all(HostOperation::kAllocation, rows.address, rows.row_bytes, order);
    }
  }
  // A launch that still uses bytes which are given away again is compared with their free and with
  // their next user.
  if (has_others && copy.operation != HostOperation::kAllocation) {
    engine_.copies.sort_in(order);
    for (const MemoryRows& rows : copy.accesses) {
      check_against_shadow(comer, rows);
      check_against_copies(comer, rows);
    }
  }
  for (const MemoryRows& rows : copy.accesses) {
    if (copy.operation == HostOperation::kFree) {
      forget_past(comer, rows, has_others);
    } else if (copy.operation == HostOperation::kAllocation) {
      engine_.copies.forget_all(HostOperation::kFree, rows.address, rows.row_bytes, order);
    }
  }
  engine_.copies.add(copy, order);
  newest_ = std::max(newest_, copy.id);
  bool is_met = false;
  for (auto& [id, launch] : engine_.running) {
    if (copy.operation != HostOperation::kConstants && !order.is_before(copy.id, id)) {
      launch->may_race_with_copies = is_met = true;
    }
  }
  if (is_met) {
    engine_.copies.sort_in(order);
  }
  engine_.finals.add(copy.id, std::move(comer.clock));
}

void CopyCheck::begin_launch(LaunchState& launch) {
  launch.newest_copy = newest_;
  if (engine_.copies.has_others(launch.info.id, engine_.order)) {
    launch.may_race_with_copies = true;
    engine_.copies.sort_in(engine_.order);
  }
}

void CopyCheck::forget(std::uint64_t address, std::uint64_t bytes) {
  engine_.copies.forget(address, bytes, engine_.order);
}

bool CopyCheck::is_before(const Comer& comer, WorkId launch) const {
  return comer.before.answer(launch, [&] {
    const auto is_ordered = [&](WorkId known) { return engine_.order.is_before(launch, known); };
    return is_ordered(comer.copy.id) || engine_.order.is_before(comer.copy.id, launch) ||
           comer.clock.knows_work(is_ordered);
  });
}

// Though its launch is not before the copy.
bool CopyCheck::was_before(const Comer& comer, const Cell& cell, std::uint32_t lane,
                           std::uint64_t address) const {
  const auto was_seen_before = [&](const Observation& observation) {
    return is_before(comer, observation.thread.cta.work()) ||
           comer.clock.at(observation.thread.place()) >= observation.time;
  };
  return comer.knows(cell, lane) ||
         (!cell.is_asynchronous() &&
          was_observed(engine_, engine_.global_locations, cell, address, was_seen_before));
}

void CopyCheck::check_against_shadow(const Comer& comer, const MemoryRows& rows) {
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    const std::uint64_t begin = rows.address + row * rows.pitch;
    engine_.global.look_at(begin, rows.row_bytes,
                           [&](std::uint64_t block_start, const Cell& cell, const Bytes& bytes) {
                             check_against_cell(comer, rows, block_start, cell, bytes);
                           });
  }
}

void CopyCheck::check_against_cell(const Comer& comer, const MemoryRows& rows,
                                   std::uint64_t block_start, const Cell& cell,
                                   const Bytes& bytes) {
  if (!cell.writes() && !rows.is_written) {
    return;
  }
  if (is_before(comer, cell.launch())) {
    return;
  }
  for (Bytes rest = cell.bytes & bytes; !rest.none(); rest = rest.after_first()) {
    const std::uint32_t byte = rest.first();
    for (const std::uint32_t lane : SetBits(cell.lanes_at(byte))) {
      if (was_before(comer, cell, lane, block_start + byte)) {
        continue;
      }
      RaceEvent race =
          copy_race(comer.copy.operation, describe_cell(engine_, cell, lane, block_start + byte),
                    describe_copy(comer.as_live(rows)), engine_.site(cell.site).speculated);
      if (!engine_.log.count_again(race)) {
        race.first.call_stack = engine_.stacks.calls(cell.stack);
        tell_last_sync(engine_, cell, race.first);
        engine_.log.add(std::move(race));
      }
      return;
    }
  }
}

// The next owner's synchronisation starts anew there, unless an unordered launch may still
// synchronise through the old one.
void CopyCheck::forget_past(const Comer& comer, const MemoryRows& range, bool has_others) {
  const auto choose = [&](std::uint64_t block_start, const Cell& cell) {
    if (is_before(comer, cell.launch())) {
      return cell.bytes;
    }
    Bytes over;
    for (Bytes rest = cell.bytes; !rest.none(); rest = rest.after_first()) {
      const std::uint32_t byte = rest.first();
      const std::uint32_t lanes = cell.lanes_at(byte);
      if (lanes_where(lanes, [&](std::uint32_t lane) {
            return was_before(comer, cell, lane, block_start + byte);
          }) == lanes) {
        over = over | Bytes::range(byte, 1);
      }
    }
    return over;
  };
  if (!has_others) {
    engine_.global.forget(range.address, range.row_bytes);
  } else if (engine_.global.forget(range.address, range.row_bytes, choose)) {
    return;
  }
  engine_.global_locations.forget(range.address, range.row_bytes);
}

void CopyCheck::check_against_copies(const Comer& comer, const MemoryRows& rows) {
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    const std::uint64_t begin = rows.address + row * rows.pitch;
    engine_.copies.for_each(begin, begin + rows.row_bytes, [&](const LiveCopy& other, auto...) {
      const WorkId mine = comer.copy.id;
      if ((!rows.is_written && !other.rows.is_written) || other.id == mine ||
          is_before(comer, other.id)) {
        return;
      }
      RaceEvent race = copy_race(std::max(other.operation, comer.copy.operation),
                                 describe_copy(other), describe_copy(comer.as_live(rows)));
      if (!engine_.log.count_again(race)) {
        engine_.log.add(std::move(race));
      }
    });
  }
}

}  // namespace barracuda::detector
