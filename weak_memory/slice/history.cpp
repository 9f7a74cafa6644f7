#include "weak_memory/slice/history.h"

#include <algorithm>
#include <bit>
#include <variant>

#include "host_detector/launches/launch_shape.h"
#include "host_detector/operation_traits.h"
#include "host_detector/replayer.h"
#include "ptx/statement_name.h"

namespace barracuda::weak_memory {
namespace {

using detector::WarpOperation;
using wire::Operation;
using wire::RecordKind;

constexpr std::uint32_t kNoWarp = ~std::uint32_t{0};

template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(static_cast<std::uint8_t>(std::countr_zero(mask)));
  }
}

}  // namespace

void History::take(const trace::Event& event) {
  if (const auto* const described = std::get_if<trace::SiteDescribed>(&event)) {
    const ptx::Site& site = described->site;
    sites_.push_back(site);
    is_asked_.push_back(statements_.contains(
        to_string(ptx::StatementName{.function = site.function, .ordinal = site.ordinal})));
  } else if (const auto* const begun = std::get_if<trace::LaunchBegun>(&event)) {
    if (begun->launch.id == launch_) {
      info_ = begun->launch;
    }
  } else if (const auto* const record = std::get_if<trace::RecordApplied>(&event)) {
    if (record->launch == launch_ && info_ && !is_cut()) {
      take_record(*record);
    }
  }
}

std::uint32_t History::cluster_of(std::uint32_t cta) const {
  return info_ ? detector::LaunchShape(*info_).cluster_of(cta) : cta;
}

void History::take_record(const trace::RecordApplied& record) {
  ++time_;
  if (!detector::read_record(record.record, operation_) ||
      static_cast<std::size_t>(operation_.site) >= sites_.size() ||
      operation_.kind == RecordKind::kVoid) {
    return;
  }
  const wire::SiteInfo& info = site(operation_.site).info;
  if (detector::traits_of(info.operation).accesses) {
    take_accesses(operation_.has_all_lanes ? operation_ : operation_.with_all_lanes(), info);
  } else {
    take_event(operation_, info);
  }
}

std::optional<MemoryPlace> History::place_of(std::uint32_t cta, std::uint64_t tagged) const {
  constexpr int kRankShift = 32;
  const std::uint64_t address = wire::address_of(tagged);
  switch (wire::space_of(tagged)) {
    case wire::AddressSpace::kGlobal:
      return MemoryPlace{.is_shared = false, .cta = 0, .address = address};
    case wire::AddressSpace::kShared:
      return MemoryPlace{.is_shared = true, .cta = cta, .address = address};
    case wire::AddressSpace::kSharedCluster:
      break;
  }
  const auto owner = detector::LaunchShape(*info_).cta_of_rank(
      cta, static_cast<std::uint32_t>(address >> kRankShift));
  if (!owner) {
    return std::nullopt;
  }
  return MemoryPlace{
      .is_shared = true, .cta = *owner, .address = static_cast<std::uint32_t>(address)};
}

void History::take_accesses(const WarpOperation& operation, const wire::SiteInfo& info) {
  const bool has_values =
      operation.kind == RecordKind::kRelease || operation.kind == RecordKind::kAcquire;
  if (!has_values && !is_asked_[static_cast<std::size_t>(operation.site)]) {
    return;
  }
  for_each_lane(operation.mask, [&](std::uint8_t lane) {
    const detector::LaneAccess& each = operation.lanes[lane];
    const auto place = place_of(operation.cta, each.address);
    if (!place) {
      return;
    }
    ++steps_;
    complete({.time = time_,
              .read_time = time_,
              .thread = {.cta = operation.cta, .warp = operation.warp, .lane = lane},
              .site = operation.site,
              .place = *place,
              .bytes = std::uint32_t{info.element_bytes} *
                       std::max<std::uint32_t>(info.element_count, 1),
              .reads = info.operation != Operation::kWrite,
              .writes = info.operation != Operation::kRead,
              .read = {},
              .written = {}},
             each, operation.kind, info);
  });
}

// With the values of its record, if that has some. What acquires and releases has two records.
void History::complete(HistoryAccess access, const detector::LaneAccess& lane, RecordKind kind,
                       const wire::SiteInfo& info) {
  const auto key = std::pair(access.thread, access.site);
  if (kind == RecordKind::kAcquire) {
    if (const auto begun = begun_.find(key); begun != begun_.end()) {
      HistoryAccess& first = accesses_[begun->second];
      first.read_time = time_;
      first.read = lane.value_read;
      begun_.erase(begun);
      return;
    }
    access.read = lane.value_read;
    access.writes = false;  // a record of its own has what it writes
  } else if (kind == RecordKind::kRelease) {
    if ((lane.flags & wire::kLaneHasRead) != 0) {
      access.read = lane.value_read;
    }
    if ((lane.flags & wire::kLaneVoid) != 0) {
      access.writes = false;
    } else if ((lane.flags & wire::kLaneHasWritten) != 0) {
      access.written = lane.value_written;
    }
    if (info.operation == Operation::kAtomic) {
      begun_[key] = accesses_.size();
    }
  }
  accesses_.push_back(access);
}

void History::take_event(const WarpOperation& operation, const wire::SiteInfo& info) {
  const HistoryStep step{.time = time_,
                         .cta = operation.cta,
                         .warp = operation.warp,
                         .mask = operation.mask,
                         .site = operation.site};
  if (info.operation == Operation::kFence) {
    ++steps_;
    fences_.push_back(step);
  } else if (info.operation == Operation::kBarrier || info.operation == Operation::kBarrierArrive ||
             info.operation == Operation::kWarpBarrier) {
    take_barrier(operation, info);
  } else if (const auto& traits = detector::traits_of(info.operation);
             traits.orders_threads || traits.has_operands || traits.has_box) {
    ++steps_;
    others_.push_back(step);
  }
}

// A thread's n-th time at a barrier of all threads is the barrier's n-th opening: threads that have
// ended count as arrived. A barrier of some threads opens when as many as it says have come.
void History::take_barrier(const WarpOperation& operation, const wire::SiteInfo& info) {
  const bool is_of_warp = info.operation == Operation::kWarpBarrier;
  const bool waits = info.operation != Operation::kBarrierArrive;
  const BarrierName name{operation.cta, is_of_warp ? operation.warp : kNoWarp,
                         operation.event_operand};
  if (!is_of_warp && operation.event_count != 0) {
    auto [open, is_new] = counted_.try_emplace(name, barriers_.size(), 0);
    if (is_new) {
      barriers_.emplace_back();
    }
    arrive(open->second.first, operation, operation.mask, waits);
    open->second.second +=
        info.aligned ? wire::kWarpLanes : static_cast<std::uint32_t>(std::popcount(operation.mask));
    if (open->second.second >= operation.event_count) {
      counted_.erase(open);
    }
    return;
  }
  for_each_lane(operation.mask, [&](std::uint8_t lane) {
    const ThreadPlace thread{.cta = operation.cta, .warp = operation.warp, .lane = lane};
    const std::uint32_t round = rounds_[{name, thread}]++;
    const auto [opening, is_new] = by_round_.try_emplace({name, round}, barriers_.size());
    if (is_new) {
      barriers_.emplace_back();
    }
    arrive(opening->second, operation, std::uint32_t{1} << lane, waits);
  });
}

void History::arrive(std::size_t barrier, const WarpOperation& operation, std::uint32_t lanes,
                     bool waits) {
  for_each_lane(lanes, [&](std::uint8_t lane) {
    ++steps_;
    barriers_[barrier].arrivals.push_back(
        {.time = time_,
         .thread = {.cta = operation.cta, .warp = operation.warp, .lane = lane},
         .waits = waits});
  });
}

}  // namespace barracuda::weak_memory
