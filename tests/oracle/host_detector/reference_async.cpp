// The reference's cluster barriers, mbarriers and asynchronous copies: RACE_RULES.md section 1,
// transcribed.
#include <algorithm>

#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {
namespace {

using wire::Asynchrony;
using wire::MemoryOrder;
using wire::Operation;
using wire::Scope;

constexpr std::size_t kCtaLevel = 0, kClusterLevel = 1;

bool is_cluster_wide(Scope scope) {
  return scope >= Scope::kCluster;
}

}  // namespace

std::uint64_t ReferenceDetector::address_of(std::uint64_t tagged) {
  const std::uint64_t address = wire::address_of(tagged);
  return wire::space_of(tagged) == wire::AddressSpace::kSharedCluster ? address & 0xFFFFFFFF
                                                                      : address;
}

Thread ReferenceDetector::completion_of(const Thread& thread, Asynchrony asynchrony, bool reads) {
  if (asynchrony == Asynchrony::kMatrixGroup) {  // of the warp
    return {std::get<0>(thread), std::get<1>(thread), 4000 + std::get<2>(thread), 0};
  }
  if (asynchrony == Asynchrony::kUnwaited) {
    return {std::get<0>(thread), std::get<1>(thread), 5000 + std::get<2>(thread),
            std::get<3>(thread)};
  }
  if (asynchrony == Asynchrony::kTensorCore) {
    return {std::get<0>(thread), std::get<1>(thread), 6000 + std::get<2>(thread),
            std::get<3>(thread)};
  }
  const std::uint32_t kind = asynchrony == Asynchrony::kThreadGroup ? 1 : reads ? 2 : 3;
  return {std::get<0>(thread), std::get<1>(thread), 1000 * kind + std::get<2>(thread),
          std::get<3>(thread)};
}

Thread ReferenceDetector::completion_of(const MbarrierKey& mbarrier) {
  return {std::get<0>(mbarrier), std::get<1>(mbarrier), 9000,
          static_cast<std::uint32_t>(std::get<2>(mbarrier))};
}

Thread ReferenceDetector::fenced(const Thread& thread) {
  Thread other = thread;
  std::get<2>(other) += 100000;
  return other;
}

Thread ReferenceDetector::of_maps(const Thread& thread, bool is_acquired) {
  Thread other = thread;
  std::get<2>(other) += is_acquired ? 300000 : 200000;
  return other;
}

// The copy of a warp is lane 0's, and comes before the fences of all its lanes.
void ReferenceDetector::fence_maps(const detector::WarpOperation& operation,
                                   const std::vector<Thread>& threads) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  Thread first = threads.front();
  std::get<3>(first) = 0;
  const std::uint64_t copied = threads_.at(first).clock[first];
  for (const Thread& thread : threads) {
    ThreadState& state = threads_.at(thread);
    if (site.aligned) {
      state.clock[first] = std::max(state.clock[first], copied);
    }
    if (site.order == MemoryOrder::kAcquire) {
      fence(site, state);
    }
    const VectorClock before = state.clock;
    for (const auto& [who, time] : before) {
      const std::uint32_t view = std::get<2>(who) / 100000;
      Thread into = who;
      if (site.order == MemoryOrder::kRelease && view == 0) {
        into = of_maps(who, false);
      } else if (site.order == MemoryOrder::kAcquire && view == 2) {
        std::get<2>(into) += 100000;
      }
      state.clock[into] = std::max(state.clock[into], time);
    }
    if (site.order == MemoryOrder::kRelease) {
      fence(site, state);
    }
  }
}

void ReferenceDetector::read_map(const detector::WarpOperation& operation, const Thread& thread) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  Access read;
  read.reads = true;
  if (site.asynchrony == Asynchrony::kMbarrier) {
    Access completes;
    completes.reads = completes.writes = completes.is_of_mbarrier = true;
    async_access(operation, thread, completes, lane.value_written, 8);
    const MbarrierKey key = mbarrier_key(lane.value_written, thread);
    read.completion = completion_of(key);
    read.completion_time = mbarriers_[key].phases_before + mbarriers_[key].counts.phase;
  } else {
    read.completion = completion_of(thread, site.asynchrony, true);
    read.completion_time = groups_[thread][1].now;
  }
  read.map_group = groups_[thread][1].now;
  const auto [map_site, address] = maps_.at(thread);
  detector::WarpOperation of_map = operation;
  of_map.site = map_site;
  async_access(of_map, thread, read, address, 128);
}

bool ReferenceDetector::is_map_read_known(const Access& read, const Thread& to) const {
  return read.map_group != 0 &&
         is_known(completion_of(read.thread, Asynchrony::kBulkGroup, true), read.map_group, to);
}

bool ReferenceDetector::is_read_again(const Access& read) const {
  return read.site->proxy == wire::Proxy::kTensorMap &&
         std::ranges::any_of(accesses_, [&](const Access& later) {
           return later.site->proxy == wire::Proxy::kTensorMap && later.thread == read.thread &&
                  later.instruction > read.instruction && later.instruction < instruction_;
         });
}

bool ReferenceDetector::is_async_proxy(const Access& access) {
  return access.site->proxy == wire::Proxy::kAsync && !access.is_of_mbarrier;
}

bool ReferenceDetector::is_known(const Thread& who, std::uint64_t time, const Thread& to) const {
  if (launches_.at(std::get<0>(to)).before.contains(std::get<0>(who))) {
    return true;
  }
  const VectorClock& clock = threads_.at(to).clock;
  const auto known = clock.find(who);
  return (known != clock.end() && known->second >= time) ||
         clock.contains(end_of(std::get<0>(who)));
}

bool ReferenceDetector::lacks_proxy_fence(const Access& older, const Access& newer) const {
  if (newer.site->proxy == wire::Proxy::kTensorMap) {
    return older.writes && std::get<0>(older.thread) == std::get<0>(newer.thread) &&
           !is_known(of_maps(older.completion.value_or(older.thread), true),
                     older.completion ? older.completion_time : older.time, newer.thread);
  }
  return newer.completion && is_async_proxy(newer) && older.writes && !is_async_proxy(older) &&
         std::get<0>(older.thread) == std::get<0>(newer.thread) &&
         !is_known(fenced(older.completion.value_or(older.thread)),
                   older.completion ? older.completion_time : older.time, newer.thread);
}

void ReferenceDetector::async_event(const detector::WarpOperation& operation,
                                    const std::vector<Thread>& threads) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const bool is_bulk = site.asynchrony == Asynchrony::kBulkGroup;
  if (site.asynchrony == Asynchrony::kMatrixGroup) {
    matrix_group(operation, threads);
    return;
  }
  if (site.operation == Operation::kProxyFence && site.proxy == wire::Proxy::kTensorMap) {
    fence_maps(operation, threads);
    return;
  }
  for (const Thread& thread : threads) {
    VectorClock& clock = threads_.at(thread).clock;
    CopyGroups& groups = groups_[thread][is_bulk ? 1 : 0];
    if (site.operation == Operation::kClusterArrive) {
      arrive_at_cluster(site, thread);
    } else if (site.operation == Operation::kClusterWait) {
      wait_at_cluster(thread);
    } else if (site.operation == Operation::kLaunchDependents) {
      launches_.at(std::get<0>(thread)).lets_dependents_begin = true;
    } else if (site.operation == Operation::kGridWait) {
      wait_for_grid(thread);
    } else if (site.operation == Operation::kProxyFence) {
      const VectorClock before = clock;
      for (const auto& [who, time] : before) {
        if (std::get<2>(who) < 100000) {
          clock[fenced(who)] = std::max(clock[fenced(who)], time);
        }
      }
    } else if (site.operation == Operation::kAsyncCommit) {
      groups.committed.push_back(groups.now++);
    } else if (site.operation == Operation::kAsyncWait) {
      if (operation.event_operand == wire::kWaitAll) {
        groups.committed.push_back(groups.now++);
      }
      const std::size_t left =
          operation.event_operand == wire::kWaitAll ? 0 : operation.event_operand;
      if (groups.committed.size() > left) {
        const std::uint64_t time = groups.committed[groups.committed.size() - 1 - left];
        std::uint64_t& reads = clock[completion_of(thread, site.asynchrony, true)];
        reads = std::max(reads, time);
        if (!is_bulk || !site.reads_only) {
          std::uint64_t& writes = clock[completion_of(thread, site.asynchrony, false)];
          writes = std::max(writes, time);
        }
      }
    }
  }
  open_cluster_barriers();
}

void ReferenceDetector::arrive_at_cluster(const wire::SiteInfo& site, const Thread& thread) {
  ClusterBarrier& barrier = cluster_barriers_[{std::get<0>(thread), cluster_of(thread)}];
  barrier.arrived.insert(thread);
  barrier.owing_wait.insert(thread);
  ThreadState given = threads_.at(thread);
  if (site.order == MemoryOrder::kRelaxed) {
    given = ThreadState{};
    given.clock = threads_.at(thread).released[kClusterLevel];
  }
  barrier.given.push_back(given);
}

void ReferenceDetector::open_cluster_barriers() {
  for (auto& [key, barrier] : cluster_barriers_) {
    const bool all = std::ranges::all_of(threads_, [&](const auto& each) {
      return std::get<0>(each.first) != key.first || cluster_of(each.first) != key.second ||
             !each.second.is_alive || barrier.arrived.contains(each.first);
    });
    const bool any = std::ranges::any_of(
        barrier.arrived, [&](const Thread& thread) { return threads_.at(thread).is_alive; });
    if (!all || !any) {
      continue;
    }
    barrier.complete = ThreadState{};
    for (const ThreadState& given : barrier.given) {
      join(barrier.complete.clock, given.clock);
      for (std::size_t scope = 0; scope < kScopes; ++scope) {
        join(barrier.complete.released[scope], given.released[scope]);
        join(barrier.complete.pending[scope], given.pending[scope]);
      }
    }
    barrier.arrived.clear();
    barrier.given.clear();
  }
}

void ReferenceDetector::wait_at_cluster(const Thread& thread) {
  ClusterBarrier& barrier = cluster_barriers_[{std::get<0>(thread), cluster_of(thread)}];
  ThreadState& state = threads_.at(thread);
  join(state.clock, barrier.complete.clock);
  for (std::size_t scope = 0; scope < kScopes; ++scope) {
    join(state.released[scope], barrier.complete.released[scope]);
    join(state.pending[scope], barrier.complete.pending[scope]);
  }
  barrier.owing_wait.erase(thread);
}

ReferenceDetector::ClusterBarrierState ReferenceDetector::cluster_barrier_state(
    const Thread& thread) const {
  const auto barrier = cluster_barriers_.find({std::get<0>(thread), cluster_of(thread)});
  if (barrier == cluster_barriers_.end() || !barrier->second.owing_wait.contains(thread)) {
    return ClusterBarrierState::kCanArrive;
  }
  return barrier->second.arrived.contains(thread) ? ClusterBarrierState::kMustWait
                                                  : ClusterBarrierState::kCanWait;
}

bool ReferenceDetector::is_alive(std::uint32_t launch, std::uint32_t cta) const {
  return std::ranges::any_of(threads_, [&](const auto& each) {
    return std::get<0>(each.first) == launch && std::get<1>(each.first) == cta &&
           each.second.is_alive;
  });
}

// What other blocks did to its shared memory must be known to some thread of the block that leaves.
void ReferenceDetector::end_block(const detector::WarpOperation& operation, const Thread& last) {
  const auto& [launch, cta, warp, lane] = last;
  const auto is_known_there = [&](const Access& use) {
    return std::ranges::any_of(threads_, [&](const auto& each) {
      return std::get<0>(each.first) == launch && std::get<1>(each.first) == cta &&
             is_known(use.completion.value_or(use.thread),
                      use.completion ? use.completion_time : use.time, each.first);
    });
  };
  for (const Access& use : accesses_) {
    const bool is_arrival_of_copy = use.is_of_mbarrier && use.site->operation == Operation::kCopy;
    if (use.space != Space{{launch, cta}} || std::get<1>(use.thread) == cta || is_arrival_of_copy ||
        is_known_there(use)) {
      continue;
    }
    const auto exit = static_cast<std::uint32_t>(operation.site);
    for (std::uint64_t byte = use.address; byte < use.address + use.size; ++byte) {
      races_.push_back({.low_site = std::min(use.site_id, exit),
                        .high_site = std::max(use.site_id, exit),
                        .older = use.thread,
                        .newer = last,
                        .older_rows = std::nullopt,
                        .newer_rows = std::nullopt,
                        .space = use.space,
                        .byte = byte,
                        .is_with_exit = true,
                        .may_be_missed = !options_.keeps_everything && has_stand_in(use, byte)});
    }
  }
}

void ReferenceDetector::exit(const detector::WarpOperation& operation,
                             const std::vector<Thread>& threads) {
  for (const Thread& thread : threads) {
    threads_.at(thread).is_alive = false;
  }
  const auto& [launch, cta, warp, lane] = threads.front();
  if (!is_alive(launch, cta)) {
    end_block(operation, threads.front());
  }
  open_barriers(launch, cta);
  open_warp_barriers(launch, cta, warp);
  open_cluster_barriers();
}

std::optional<ReferenceDetector::MbarrierCounts> ReferenceDetector::mbarrier_counts(
    std::uint32_t launch, std::uint32_t cta, std::uint64_t offset) const {
  const auto known = mbarriers_.find({launch, cta, offset});
  return known != mbarriers_.end() && known->second.is_valid ? std::optional(known->second.counts)
                                                             : std::nullopt;
}

ReferenceDetector::MbarrierKey ReferenceDetector::mbarrier_key(std::uint64_t tagged,
                                                               const Thread& thread) const {
  const Space space = space_of(tagged, thread);
  return {space->first, space->second, address_of(tagged)};
}

void ReferenceDetector::open_if_complete(Mbarrier& mbarrier) {
  if (mbarrier.counts.pending == 0 && mbarrier.counts.bytes == 0) {
    mbarrier.counts.pending = mbarrier.counts.expected;
    ++mbarrier.counts.phase;
  }
}

void ReferenceDetector::async_access(const detector::WarpOperation& operation, const Thread& thread,
                                     Access access, std::uint64_t tagged, std::uint32_t bytes) {
  access.instruction = instruction_;
  access.site_id = static_cast<std::uint32_t>(operation.site);
  access.site = &sites_[access.site_id];
  access.thread = thread;
  access.time = threads_.at(thread).clock.at(thread);
  access.clock = threads_.at(thread).clock;
  access.space = space_of(tagged, thread);
  access.location_size = 1;
  const std::uint32_t piece =
      access.is_of_mbarrier || access.site->element_bytes == 0 ? bytes : access.site->element_bytes;
  for (std::uint32_t done = 0; done < bytes; done += piece) {
    access.address = address_of(tagged) + done;
    access.size = access.width = std::min(piece, bytes - done);
    for (std::size_t older = 0; older < accesses_.size(); ++older) {
      check(accesses_[older], access);
    }
    accesses_.push_back(access);
  }
}

void ReferenceDetector::operands(const detector::WarpOperation& operation,
                                 const std::vector<Thread>& threads) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  if (site.operation == Operation::kCopy) {
    for (const Thread& thread : threads) {
      copy(operation, thread);
    }
    return;
  }
  if (site.operation == Operation::kMatrixProduct) {
    if (site.asynchrony == Asynchrony::kTensorCore) {
      for (const Thread& thread : threads) {
        tensor_product(operation, thread);
      }
    } else {
      matrix_product(operation, threads.front());
    }
    return;
  }
  const bool is_weak = site.operation == Operation::kMbarrierInit;
  for (const Thread& thread : threads) {
    const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
    Access access;
    access.reads = !is_weak;
    access.writes = site.operation != Operation::kMbarrierWait;
    access.is_of_mbarrier = !is_weak;
    async_access(operation, thread, access, lane.address, 8);
  }
  for (const Thread& thread : threads) {
    mbarrier_step(site, operation.lanes[std::get<3>(thread)], thread);
  }
}

void ReferenceDetector::mbarrier_step(const wire::SiteInfo& site, const detector::LaneAccess& lane,
                                      const Thread& thread) {
  const MbarrierKey key = mbarrier_key(lane.address, thread);
  Mbarrier& mbarrier = mbarriers_[key];
  const bool is_near = std::get<1>(key) == std::get<1>(thread);
  const ThreadState& state = threads_.at(thread);
  MbarrierCounts& counts = mbarrier.counts;
  if (site.operation == Operation::kMbarrierWait) {
    wait_for(site, lane, thread, key);
  } else if (site.operation == Operation::kMbarrierInvalidate) {
    mbarrier.is_valid = false;
  } else if (site.operation == Operation::kMbarrierInit) {
    mbarrier.phases_before += counts.phase;
    counts = {.pending = lane.amount, .expected = lane.amount, .bytes = 0, .phase = 1};
    mbarrier.gifts.clear();
    mbarrier.is_valid = true;
  } else if (site.operation == Operation::kMbarrierArrive) {
    const bool is_unscoped = !is_near && site.is_unscoped;
    if (is_near || is_unscoped || is_cluster_wide(site.scope)) {
      mbarrier.gifts.push_back({counts.phase, thread,
                                site.order != MemoryOrder::kRelaxed
                                    ? state.clock
                                    : state.released[is_near ? kCtaLevel : kClusterLevel],
                                is_unscoped});
    }
    counts.bytes += static_cast<std::int64_t>(lane.value_read);
    counts.pending -= lane.amount;
    counts.expected -= (lane.flags & wire::kLaneDrops) != 0 ? lane.amount : 0;
    open_if_complete(mbarrier);
  } else if (site.operation == Operation::kAsyncArrive) {
    const bool is_commit = site.asynchrony == Asynchrony::kTensorCore;
    if (is_commit) {  // which gives what its thread knows as well
      mbarrier.gifts.push_back({counts.phase, thread, state.clock, false});
    }
    const std::uint64_t time = is_commit ? ++commits_[thread] : groups_[thread][0].now++;
    const VectorClock copies{
        {completion_of(thread, is_commit ? site.asynchrony : Asynchrony::kThreadGroup, true),
         time}};
    mbarrier.gifts.push_back({counts.phase, thread, copies, false});
    counts.pending -= lane.amount;
    if (lane.amount != 0) {
      open_if_complete(mbarrier);
    }
  } else {
    const auto bytes = static_cast<std::int64_t>(lane.value_read);
    counts.bytes += site.operation == Operation::kMbarrierExpect ? bytes : -bytes;
    open_if_complete(mbarrier);
  }
}

// `thread` is of the mbarrier's CTA: others cannot wait for it.
void ReferenceDetector::wait_for(const wire::SiteInfo& site, const detector::LaneAccess& lane,
                                 const Thread& thread, const MbarrierKey& key) {
  const Mbarrier& mbarrier = mbarriers_.at(key);
  std::uint64_t complete = mbarrier.counts.phase - 1;
  if (lane.amount != wire::kUnknownParity && complete > 0 && (complete - 1) % 2 != lane.amount) {
    --complete;
  }
  if (complete == 0) {
    return;
  }
  ThreadState& state = threads_.at(thread);
  const bool at_once = site.order != MemoryOrder::kRelaxed;
  for (const Mbarrier::Gift& gift : mbarrier.gifts) {
    const bool is_near = distance(gift.from, thread) == Scope::kCta;
    const bool reaches =
        is_near || is_cluster_wide(site.scope) || (gift.is_unscoped && site.is_unscoped);
    if (gift.phase <= complete && reaches) {
      join(at_once ? state.clock : state.pending[is_near ? kCtaLevel : kClusterLevel], gift.clock);
    }
  }
  std::uint64_t& copies = (at_once ? state.clock : state.pending[kCtaLevel])[completion_of(key)];
  copies = std::max(copies, mbarrier.phases_before + complete);
}

void ReferenceDetector::copy(const detector::WarpOperation& operation, const Thread& thread) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  if (site.asynchrony != Asynchrony::kMbarrier) {
    copy_once(operation, thread, lane.address, std::nullopt);
    return;
  }
  if (lane.flags == 0) {
    copy_once(operation, thread, lane.address, lane.value_written);
    return;
  }
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    if ((lane.flags >> rank & 1) != 0) {
      const auto there = [&](std::uint64_t tagged) {
        return wire::tagged_address(wire::AddressSpace::kSharedCluster,
                                    std::uint64_t{rank} << 32 | address_of(tagged));
      };
      copy_once(operation, thread, there(lane.address), there(lane.value_written));
    }
  }
}

// Of each 16 bytes those whose bits are set, one by one.
void ReferenceDetector::masked_access(const detector::WarpOperation& operation,
                                      const Thread& thread, const Access& access,
                                      std::uint64_t tagged) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  if (site.constant != wire::kByteMask) {
    async_access(operation, thread, access, tagged, lane.amount);
    return;
  }
  for (std::uint32_t byte = 0; byte < lane.amount; ++byte) {
    if ((lane.flags >> byte % 16 & 1) != 0) {
      async_access(operation, thread, access, tagged + byte, 1);
    }
  }
}

void ReferenceDetector::copy_once(const detector::WarpOperation& operation, const Thread& thread,
                                  std::uint64_t target, std::optional<std::uint64_t> mbarrier) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  Access read, write;
  read.reads = write.writes = true;
  write.reads = site.order != MemoryOrder::kWeak;
  if (mbarrier) {
    Access completes;
    completes.reads = completes.writes = completes.is_of_mbarrier = true;
    async_access(operation, thread, completes, *mbarrier, 8);
    const MbarrierKey key = mbarrier_key(*mbarrier, thread);
    read.completion = write.completion = completion_of(key);
    read.completion_time = write.completion_time =
        mbarriers_[key].phases_before + mbarriers_[key].counts.phase;
  } else if (site.asynchrony != Asynchrony::kNone) {
    const bool is_bulk = site.asynchrony == Asynchrony::kBulkGroup;
    read.completion = completion_of(thread, site.asynchrony, true);
    write.completion = completion_of(thread, site.asynchrony, false);
    read.completion_time = write.completion_time = groups_[thread][is_bulk ? 1 : 0].now;
  }
  if (lane.value_read != wire::kNoOperand) {
    masked_access(operation, thread, read, lane.value_read);
  }
  masked_access(operation, thread, write, target);
  if (mbarrier) {
    Mbarrier& completed = mbarriers_[mbarrier_key(*mbarrier, thread)];
    completed.counts.bytes -= lane.amount;
    open_if_complete(completed);
  }
}

// RACE_RULES section 1: what no order in their launch helps, because it is of surfaces.
bool ReferenceDetector::is_between_surfaces(const Access& older, const Access& newer) const {
  const bool older_is = older.site->proxy == wire::Proxy::kSurface;
  const bool newer_is = newer.site->proxy == wire::Proxy::kSurface;
  const bool same_launch = std::get<0>(older.thread) == std::get<0>(newer.thread);
  return same_launch && (older_is || newer_is) &&
         (older_is != newer_is || distance(older.thread, newer.thread) != Scope::kCta);
}

}  // namespace barracuda::oracle
