// What the rewriter knows of the blocks of a trace from their code
// (ptx/passes/barrier_intervals.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle {

using BlockName = std::pair<detector::LaunchId, std::uint32_t>;

inline BlockName block_of(const detector::WarpOperation& operation) {
  return {operation.launch, operation.cta};
}

inline bool is_block_barrier(const detector::WarpOperation& operation, const wire::SiteInfo& site) {
  return site.operation == wire::Operation::kBarrier && operation.event_count == 0;
}

inline bool is_warp_barrier(const detector::WarpOperation& operation, const wire::SiteInfo& site) {
  return site.operation == wire::Operation::kWarpBarrier && operation.event_operand == ~0U;
}

inline bool is_plain_record(const detector::WarpOperation& operation) {
  return operation.kind == wire::RecordKind::kAffine ||
         operation.kind == wire::RecordKind::kScattered;
}

inline bool is_of_copies(const detector::WarpOperation& operation, const wire::SiteInfo& site) {
  return site.asynchrony == wire::Asynchrony::kThreadGroup &&
         (is_plain_record(operation) || operation.kind == wire::RecordKind::kEvent);
}

// Who may learn of what a step does.
struct Told {
  std::uint32_t before_barrier = 0;  // lanes that publish before their block's next barrier
  bool comes_first = false;          // none of its lanes has published since the last one
  bool other_blocks = false;         // someone of its block publishes to those later on
};

struct KnownBlocks {
  explicit KnownBlocks(const Trace& trace);

  std::set<BlockName> all;
  std::set<BlockName> countable;  // barriers of whole warps are counted
  std::set<BlockName> by_whole;   // their barriers are all of the whole block
  std::set<BlockName> whole;      // nothing of them is kept
  std::vector<Told> told;         // by step
};

}  // namespace barracuda::oracle
