// Products of the reference detector: what wgmma and tcgen05 read of shared memory.
#include <algorithm>
#include <set>

#include "device_logger/matrix_descriptor.h"
#include "device_logger/tensor_reads.h"
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

using wire::Operation;

// The groups are those of lane 0, for all lanes of its warp. A wait is for the parts that the four
// warps of the warpgroup have in a group.
void ReferenceDetector::matrix_group(const detector::WarpOperation& operation,
                                     const std::vector<Thread>& threads) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  CopyGroups& groups = matrix_groups_[completion_of(threads.front(), site.asynchrony, true)];
  if (site.operation == Operation::kAsyncCommit) {
    groups.committed.push_back(groups.now++);
    return;
  }
  if (groups.committed.size() > operation.event_operand) {
    const std::uint64_t time =
        groups.committed[groups.committed.size() - 1 - operation.event_operand];
    for (const Thread& thread : threads) {
      for (std::uint32_t warp = 0; warp < 4; ++warp) {
        Thread other = thread;
        std::get<2>(other) = std::get<2>(thread) / 4 * 4 + warp;
        std::uint64_t& reads =
            threads_.at(thread).clock[completion_of(other, site.asynchrony, true)];
        reads = std::max(reads, time);
      }
    }
  }
}

// 16 rows of A for each warp, all of B, twice as deep where A is sparse: the units of 16 bytes that
// their elements lie in, each once.
void ReferenceDetector::matrix_product(const detector::WarpOperation& operation,
                                       const Thread& thread) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const auto shape = wire::ProductShape::of(site.constant);
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  Access read;
  read.reads = true;
  read.completion = completion_of(thread, site.asynchrony, true);
  read.completion_time = matrix_groups_[*read.completion].now;
  std::set<std::uint32_t> units;
  const auto add = [&](std::uint64_t descriptor, wire::MatrixMajor major, std::uint32_t first,
                       std::uint32_t count, std::uint32_t depth) {
    for (std::uint32_t row = first; row < first + count; ++row) {
      for (std::uint32_t k = 0; k < depth; ++k) {
        units.insert(wire::element_address(wire::read_descriptor(descriptor), major, 2, row, k) /
                     16);
      }
    }
    for (const std::uint32_t unit : units) {
      async_access(operation, thread, read,
                   wire::tagged_address(wire::AddressSpace::kShared, 16 * unit), 16);
    }
    units.clear();
  };
  if (!shape.has_registers) {
    add(lane.value_read, shape.a, std::get<2>(thread) % 4 * 16, 16, 16);
  }
  add(lane.value_written, shape.b, 0, shape.columns, shape.is_sparse ? 32 : 16);
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

// All rows of A and B, of halves: the units of 16 bytes that their elements lie in.
void ReferenceDetector::tensor_product(const detector::WarpOperation& operation,
                                       const Thread& thread) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const auto reads = wire::TensorReads::of(site.constant);
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  const wire::TensorShape shape = wire::read_instruction_descriptor(reads->kind, lane.amount);
  Access read;
  read.reads = true;
  read.completion = completion_of(thread, site.asynchrony, true);
  read.completion_time = 1 + commits_[thread];
  const auto add = [&](std::uint64_t descriptor, wire::MatrixMajor major, std::uint32_t rows,
                       std::uint32_t depth) {
    std::set<std::uint32_t> units;
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t k = 0; k < depth; ++k) {
        units.insert(wire::element_address(wire::read_descriptor(descriptor), major, 2, row, k) /
                     16);
      }
    }
    for (const std::uint32_t unit : units) {
      async_access(operation, thread, read,
                   wire::tagged_address(wire::AddressSpace::kShared, 16 * unit), 16);
    }
  };
  if (!reads->has_tensor_memory) {
    add(lane.value_read, shape.a, shape.rows, 16);
  }
  add(lane.value_written, shape.b, shape.columns, reads->is_sparse ? 32 : 16);
}

}  // namespace barracuda::oracle
