// Products of the reference detector: what wgmma and tcgen05 read of shared memory.
#include <algorithm>
#include <set>

#include "device_logger/matrix_descriptor.h"
#include "device_logger/tensor_reads.h"
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

using wire::Operation;

namespace {

// Of a matrix of halves: the units of 16 bytes that the elements of these rows lie in, each once.
std::set<std::uint32_t> units_of(std::uint64_t descriptor, wire::MatrixMajor major,
                                 std::uint32_t first, std::uint32_t count, std::uint32_t depth) {
  std::set<std::uint32_t> units;
  for (std::uint32_t row = first; row < first + count; ++row) {
    for (std::uint32_t k = 0; k < depth; ++k) {
      units.insert(wire::element_address(wire::read_descriptor(descriptor), major, 2, row, k) / 16);
    }
  }
  return units;
}

}  // namespace

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

// 16 rows of A for each warp, all of B, twice as deep where A is sparse.
void ReferenceDetector::matrix_product(const detector::WarpOperation& operation,
                                       const Thread& thread) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const auto shape = wire::ProductShape::of(site.constant);
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  Access read;
  read.reads = true;
  read.completion = completion_of(thread, site.asynchrony, true);
  read.completion_time = matrix_groups_[*read.completion].now;
  const auto add = [&](const std::set<std::uint32_t>& units) {
    for (const std::uint32_t unit : units) {
      async_access(operation, thread, read,
                   wire::tagged_address(wire::AddressSpace::kShared, 16 * unit), 16);
    }
  };
  if (!shape.has_registers) {
    add(units_of(lane.value_read, shape.a, std::get<2>(thread) % 4 * 16, 16, 16));
  }
  add(units_of(lane.value_written, shape.b, 0, shape.columns, shape.is_sparse ? 32 : 16));
}

// All rows of A and B.
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
  const auto add = [&](const std::set<std::uint32_t>& units) {
    for (const std::uint32_t unit : units) {
      async_access(operation, thread, read,
                   wire::tagged_address(wire::AddressSpace::kShared, 16 * unit), 16);
    }
  };
  if (!reads->has_tensor_memory) {
    add(units_of(lane.value_read, shape.a, 0, shape.rows, 16));
  }
  add(units_of(lane.value_written, shape.b, 0, shape.columns, reads->is_sparse ? 32 : 16));
}

}  // namespace barracuda::oracle
