#include "tests/oracle/host_detector/filtered_trace.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "device_logger/memory_order.h"
#include "device_logger/shared_states.h"

namespace barracuda::oracle {
namespace {

using detector::WarpOperation;
using wire::Operation;
using wire::RecordKind;

constexpr std::uint32_t kWindow = 512;  // bytes
constexpr wire::SharedStates kShape{.window = kWindow};
constexpr std::uint32_t kGranule = 1U << kShape.granule_log2;

bool is_block_barrier(const WarpOperation& operation, const wire::SiteInfo& site) {
  return site.operation == Operation::kBarrier && operation.event_count == 0;
}

bool is_plain_record(const WarpOperation& operation) {
  return operation.kind == RecordKind::kAffine || operation.kind == RecordKind::kScattered;
}

// As the rewriter knows from the code (ptx/passes/barrier_intervals.cpp).
bool publishes(const WarpOperation& operation, const wire::SiteInfo& site) {
  return operation.kind == RecordKind::kEvent || site.operation == Operation::kHeap ||
         wire::has_release(site.order);
}

// The states of a block, and what its threads count.
class BlockFilter {
 public:
  // Adds what is logged to `steps`. `publish_later`: of the lanes, those that do.
  void take(const WarpOperation& operation, const wire::SiteInfo& site, std::uint32_t publish_later,
            std::vector<Step>& steps) {
    for_each_lane(operation, [&](std::uint32_t lane) { pass_barrier(thread_of(operation, lane)); });
    const bool is_access = is_plain_record(operation) || operation.kind == RecordKind::kRelease ||
                           operation.kind == RecordKind::kAcquire;
    if (is_access && !access(operation, site, publish_later, steps)) {
      return;
    }
    steps.emplace_back(operation);
    for_each_lane(operation, [&](std::uint32_t lane) {
      Thread& thread = threads_[thread_of(operation, lane)];
      if (site.operation == Operation::kExit && (thread.interval & wire::kFrozen) == 0) {
        have_left_.insert(thread_of(operation, lane));
        left_ = std::max(left_, wire::kMostIntervals - thread.interval);
      }
      thread.has_passed = is_block_barrier(operation, site);
    });
  }

 private:
  struct Thread {
    std::uint32_t interval = 0;
    bool has_passed = false;  // a barrier, and has done nothing since
  };

  template <typename Visit>
  static void for_each_lane(const WarpOperation& operation, const Visit& visit) {
    for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
      visit(static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  }

  static std::uint32_t thread_of(const WarpOperation& operation, std::uint32_t lane) {
    return operation.warp * wire::kWarpLanes + lane;
  }

  void pass_barrier(std::uint32_t thread) {
    Thread& passed = threads_[thread];
    if (std::exchange(passed.has_passed, false)) {
      passed.interval = wire::next_interval(passed.interval, left_);
    }
  }

  // Whether it is logged.
  bool access(const WarpOperation& operation, const wire::SiteInfo& site,
              std::uint32_t publish_later, std::vector<Step>& steps) {
    const std::uint32_t bytes = std::uint32_t{site.element_bytes} * site.element_count;
    bool logs = false;
    for_each_lane(operation, [&](std::uint32_t lane) {
      const std::uint64_t tagged = operation.lanes[lane].address;
      if (wire::space_of(tagged) != wire::AddressSpace::kShared) {
        logs = true;
        return;
      }
      wire::StateAccess access = state_access(operation, site, lane);
      if ((publish_later >> lane & 1) != 0) {
        access.use = wire::StateUse::kLogged;
      }
      const std::uint64_t begin = wire::address_of(tagged);
      for (std::uint64_t at = begin / kGranule; at * kGranule < begin + bytes; ++at) {
        logs = take_granule(operation, at, access, steps) || logs;
      }
    });
    return logs;
  }

  static wire::StateAccess state_access(const WarpOperation& operation, const wire::SiteInfo& site,
                                        std::uint32_t lane) {
    const std::uint32_t bytes = std::uint32_t{site.element_bytes} * site.element_count;
    const bool is_plain =
        is_plain_record(operation) && site.order == wire::MemoryOrder::kWeak && bytes == kGranule;
    wire::StateAccess access{.by = {.thread = thread_of(operation, lane),
                                    .site = static_cast<std::uint32_t>(operation.site)}};
    if (is_plain && site.operation == Operation::kRead) {
      access.use = wire::StateUse::kRead;
    }
    if (is_plain && site.operation == Operation::kWrite && is_alone(operation, lane, bytes)) {
      access.use = wire::StateUse::kWrite;
    }
    return access;
  }

  static bool is_alone(const WarpOperation& operation, std::uint32_t lane, std::uint32_t bytes) {
    bool is_alone = true;
    for_each_lane(operation, [&](std::uint32_t other) {
      is_alone = is_alone && (other == lane || operation.lanes[other].address / bytes !=
                                                   operation.lanes[lane].address / bytes);
    });
    return is_alone;
  }

  bool take_granule(const WarpOperation& operation, std::uint64_t at,
                    const wire::StateAccess& access, std::vector<Step>& steps) {
    const wire::WordState state(states_.at(at));
    const std::uint32_t interval = threads_[access.by.thread].interval;
    const wire::StateStep step = wire::any_step(
        state, interval, access, [&](std::uint32_t thread) { return have_left_.contains(thread); });
    for (const std::uint32_t which : {0U, 1U}) {
      if ((step.kept >> which & 1) != 0) {
        steps.emplace_back(kept(operation, at, which == 0 ? state.first() : state.second()));
      }
    }
    states_.at(at) = step.next.bits();
    return step.logs;
  }

  // As a kEarlier is decoded.
  static WarpOperation kept(const WarpOperation& by, std::uint64_t at,
                            const wire::KeptAccess& access) {
    const std::uint32_t lane = access.thread % wire::kWarpLanes;
    WarpOperation kept{.kind = RecordKind::kAffine,
                       .launch = by.launch,
                       .site = wire::SiteId{access.site},
                       .cta = by.cta,
                       .warp = static_cast<std::uint8_t>(access.thread / wire::kWarpLanes),
                       .mask = std::uint32_t{1} << lane,
                       .is_earlier = true};
    kept.lanes[lane].address = wire::tagged_address(wire::AddressSpace::kShared, at * kGranule);
    return kept;
  }

  std::array<std::uint64_t, kWindow / kGranule> states_{};
  std::map<std::uint32_t, Thread> threads_;
  std::set<std::uint32_t> have_left_;
  std::uint32_t left_ = 0;
};

// By step: the lanes whose threads publish before they come to the next barrier of their whole
// block.
std::vector<std::uint32_t> find_publications(const Trace& trace) {
  std::map<std::tuple<detector::LaunchId, std::uint32_t, std::uint32_t>, bool> publishes_later;
  std::vector<std::uint32_t> lanes(trace.steps.size());
  for (std::size_t i = trace.steps.size(); i-- > 0;) {
    const auto* const operation = std::get_if<WarpOperation>(&trace.steps[i]);
    if (operation == nullptr) {
      continue;
    }
    const wire::SiteInfo& site = trace.sites.at(static_cast<std::size_t>(operation->site));
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      if ((operation->mask >> lane & 1) != 0) {
        bool& later = publishes_later[{operation->launch, operation->cta,
                                       operation->warp * wire::kWarpLanes + lane}];
        lanes[i] |= later ? std::uint32_t{1} << lane : 0;
        later = !is_block_barrier(*operation, site) && site.operation != Operation::kExit &&
                (later || publishes(*operation, site));
      }
    }
  }
  return lanes;
}

}  // namespace

Trace filtered(const Trace& trace) {
  Trace logged{.sites = trace.sites, .steps = {}};
  const std::vector<std::uint32_t> publish_later = find_publications(trace);
  std::map<std::pair<detector::LaunchId, std::uint32_t>, BlockFilter> blocks;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (const auto* operation = std::get_if<WarpOperation>(&trace.steps[i])) {
      blocks[{operation->launch, operation->cta}].take(
          *operation, trace.sites.at(static_cast<std::size_t>(operation->site)), publish_later[i],
          logged.steps);
    } else {
      logged.steps.push_back(trace.steps[i]);
    }
  }
  return logged;
}

}  // namespace barracuda::oracle
