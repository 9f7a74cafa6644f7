// Barriers of blocks and of warps.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

using wire::Operation;

void ReferenceDetector::arrive(const detector::WarpOperation& operation,
                               const std::vector<Thread>& threads, bool waits) {
  const auto& [launch, cta, warp, lane] = threads.front();
  Barrier& barrier = barriers_[{launch, cta, operation.event_operand}];
  const bool is_early = !waits && std::ranges::any_of(threads, [&](const Thread& thread) {
    return barrier.arrived.contains(thread);
  });
  if (is_early) {  // of the next phase
    barrier.early_count = operation.event_count;
    for (const Thread& thread : threads) {
      barrier.early.insert(thread);
      barrier.given_early.push_back(threads_.at(thread));
    }
    return;
  }
  barrier.count = operation.event_count;
  for (const Thread& thread : threads) {
    barrier.arrived.insert(thread);
    barrier.given.push_back(threads_.at(thread));
    if (waits) {
      barrier.waiting.insert(thread);
      threads_.at(thread).barrier = operation.event_operand;
    }
  }
  open_barriers(launch, cta);
}

// Nobody but the CTA reaches its shared memory, and all of its threads that ever touched any memory
// wait: what was done there before is ordered before all that will be, whoever saw it.
bool ReferenceDetector::divides_shared_memory(std::uint32_t launch, std::uint32_t cta,
                                              const Barrier& barrier) const {
  const auto is_missing = [&](const Thread& thread) {
    return !barrier.waiting.contains(thread) &&
           (threads_.at(thread).is_alive ||
            std::ranges::find(accesses_, thread, &Access::thread) != accesses_.end());
  };
  return launches_.at(launch).info.cluster.volume() == 1 &&
         std::ranges::none_of(sites_,
                              [](const wire::SiteInfo& site) {
                                return site.asynchrony != wire::Asynchrony::kNone ||
                                       site.operation == Operation::kCopy;
                              }) &&
         std::ranges::none_of(threads_, [&](const auto& each) {
           const auto& [of_launch, of_cta, warp, lane] = each.first;
           return of_launch == launch && of_cta == cta && is_missing(each.first);
         });
}

void ReferenceDetector::open_barriers(std::uint32_t launch, std::uint32_t cta) {
  const std::set<Thread> nobody;
  for (auto& [key, barrier] : barriers_) {
    if (std::get<0>(key) != launch || std::get<1>(key) != cta || barrier.waiting.empty()) {
      continue;
    }
    std::map<std::uint32_t, bool> warps;  // that have arrived, and whether no live lane is missing
    std::size_t alive = 0;
    for (const Thread& thread : barrier.arrived) {
      warps[std::get<2>(thread)] = true;
    }
    for (const auto& [thread, state] : threads_) {
      if (std::get<0>(thread) == launch && std::get<1>(thread) == cta && state.is_alive) {
        ++alive;
        const auto warp = warps.find(std::get<2>(thread));
        if (warp != warps.end() && !barrier.arrived.contains(thread)) {
          warp->second = false;
        }
      }
    }
    const auto full = std::ranges::count_if(warps, [](const auto& warp) { return warp.second; });
    if (barrier.count == 0 ? barrier.waiting.size() < alive : full * 32 < barrier.count) {
      continue;
    }
    for (const Thread& thread : barrier.waiting) {
      ThreadState& state = threads_.at(thread);
      for (const ThreadState& given : barrier.given) {
        join(state.clock, given.clock);
        for (std::size_t scope = 0; scope < kScopes; ++scope) {
          join(state.released[scope], given.released[scope]);
          join(state.pending[scope], given.pending[scope]);
        }
      }
      state.barrier.reset();
    }
    if (!options_.keeps_everything && divides_shared_memory(launch, cta, barrier)) {
      std::erase_if(locations_, [&](const auto& location) {
        return std::get<Space>(location.first) == std::pair(launch, cta);
      });
    }
    barrier = Barrier{.arrived = std::move(barrier.early),
                      .count = barrier.early_count,
                      .given = std::move(barrier.given_early)};
  }
}

void ReferenceDetector::open_warp_barriers(std::uint32_t launch, std::uint32_t cta,
                                           std::uint32_t warp) {
  std::map<std::uint32_t, std::vector<Thread>> waiting;  // by members
  std::uint32_t alive = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const auto place = threads_.find({launch, cta, warp, lane});
    if (place == threads_.end() || !place->second.is_alive) {
      continue;
    }
    alive |= 1U << lane;
    if (place->second.warp_barrier) {
      waiting[*place->second.warp_barrier].push_back(place->first);
    }
  }
  for (const auto& [members, threads] : waiting) {
    std::uint32_t missing = members & alive;
    ThreadState all;
    for (const Thread& thread : threads) {
      missing &= ~(1U << std::get<3>(thread));
      const ThreadState& given = threads_.at(thread);
      join(all.clock, given.clock);
      for (std::size_t scope = 0; scope < kScopes; ++scope) {
        join(all.released[scope], given.released[scope]);
        join(all.pending[scope], given.pending[scope]);
      }
    }
    if (missing == 0) {
      for (const Thread& thread : threads) {
        threads_.at(thread) = all;
      }
    }
  }
}

}  // namespace barracuda::oracle
