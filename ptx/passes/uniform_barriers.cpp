#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "device_logger/record.h"
#include "ptx/analysis/load_or_store.h"
#include "ptx/analysis/near_stops.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/shared_writes.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::uniform_barriers {
namespace {

bool is_barrier(const PlannedSite& site) {
  return site.hook == HookKind::kEvent && site.info.operation == wire::Operation::kBarrier;
}

bool is_kept_load(const PlannedSite& site) {
  return site.hook == HookKind::kAccess && only_loads(site.effect) &&
         site.effect.space == StateSpace::kShared &&
         (site.info.order == wire::MemoryOrder::kWeak || site.has_state);
}

// By what it does, wherever its address leads: without a space it may be to shared memory.
bool may_write_shared(const Effect& effect) {
  return is_thread_copy(effect) || ((is_shared_access(effect) || is_matrix_access(effect)) &&
                                    !only_loads(effect) && effect.space != StateSpace::kGlobal);
}

// Whether the statement does this, whatever predicate the lanes have.
bool does(const Program& program, const PlannedSite& site, wire::Operation operation) {
  return site.info.operation == operation &&
         site.info.asynchrony == wire::Asynchrony::kThreadGroup &&
         program.module.statements[site.statement].instruction.predicate.empty();
}

// Of a wait for groups of cp.async: how many may be left; kWaitAll as record.h has it.
std::optional<std::uint64_t> groups_left(const Program& program, const PlannedSite& site) {
  if (!does(program, site, wire::Operation::kAsyncWait)) {
    return std::nullopt;
  }
  const auto& operands = program.module.statements[site.statement].instruction.operands;
  return operands.empty() ? std::optional<std::uint64_t>(wire::kWaitAll)
         : operands[0].kind == Operand::Kind::kInteger ? std::optional(operands[0].bits)
                                                       : std::nullopt;
}

// Where copies may be under way: what comes behind one, up to a wait for all.
NearStops find_copies(const Program& program, const ControlFlow& flow,
                      std::span<const PlannedSite> sites) {
  std::vector<NearStops::Stop> commits, waits;
  for (const PlannedSite& site : sites) {
    if (is_thread_copy(site.effect) || does(program, site, wire::Operation::kAsyncCommit)) {
      commits.push_back({.statement = site.statement, .is_meant = is_thread_copy(site.effect)});
    }
  }
  const NearStops uncommitted(flow, std::move(commits));
  for (const PlannedSite& site : sites) {
    const std::optional<std::uint64_t> left = groups_left(program, site);
    const bool is_over =
        left == wire::kWaitAll || (left == 0U && !uncommitted.come_before(site.statement));
    if (is_over || is_thread_copy(site.effect)) {
      waits.push_back({.statement = site.statement, .is_meant = !is_over});
    }
  }
  return {flow, std::move(waits)};
}

// What the threads of a block may do from one barrier up to the next ones.
struct Interval {
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // statements [first, second)
  std::vector<std::size_t> writes;                         // to shared memory, maybe
  bool leaves = false;                                     // a thread may leave the kernel,
  bool goes_on = false;                                    // or come to another barrier
};

class KernelIntervals {
 public:
  KernelIntervals(Program& program, std::uint32_t index, const ControlFlow& flow,
                  std::span<const PlannedSite> sites)
      : program_(program),
        function_(program.function(index)),
        flow_(flow),
        uniform_(program.uniform_blocks_of(index)),
        writes_(program.module, function_),
        copies_(find_copies(program, flow, sites)) {
    for (const PlannedSite& site : sites) {
      if (is_barrier(site)) {
        barriers_.push_back(site.statement);
      }
    }
  }

  // Whether every thread comes to every barrier with all others.
  [[nodiscard]] bool are_whole() const {
    return std::ranges::all_of(barriers_, [&](std::size_t barrier) {
      return uniform_[flow_.block_of(barrier)] == Uniformity::kAll;
    });
  }

  // By statement of the function's body: whether it is a load that nothing writes to in any
  // interval in which it stands. Before the first barrier no thread knows whether there are states.
  [[nodiscard]] std::vector<bool> find_read_only() const {
    const std::size_t size = function_.body_end - function_.body_begin + 1;
    std::vector<bool> in_read_only(size), in_other(size);
    const auto mark = [&](const Interval& interval, bool keeps_reads) {
      for (const auto& [begin, end] : interval.parts) {
        for (std::size_t at = begin; at < end; ++at) {
          const bool is_read_only = keeps_reads && !is_written(interval, at);
          (is_read_only ? in_read_only : in_other)[at - function_.body_begin] = true;
        }
      }
    };
    mark(from(function_.body_begin), false);
    for (const std::size_t barrier : barriers_) {
      const Interval interval = from(barrier + 1);
      mark(interval, keeps_reads(barrier, interval));
    }
    for (std::size_t at = 0; at < size; ++at) {
      in_read_only[at] = in_read_only[at] && !in_other[at];
    }
    return in_read_only;
  }

 private:
  // Threads that come to the barrier together begin its interval together, all but those that left
  // before. Who leaves in it while others go on is not ordered before what they do next: what was
  // read must be known then.
  [[nodiscard]] bool keeps_reads(std::size_t barrier, const Interval& interval) const {
    return uniform_[flow_.block_of(barrier)] != Uniformity::kSome &&
           !copies_.come_before(barrier) && !(interval.leaves && interval.goes_on);
  }

  // Whether something in the interval may write what the statement loads.
  [[nodiscard]] bool is_written(const Interval& interval, std::size_t load) const {
    if (interval.writes.empty()) {
      return false;
    }
    const std::optional<SharedPiece> piece = writes_.read_by(load);
    return !piece || std::ranges::any_of(interval.writes, [&](std::size_t write) {
      return writes_.may_write(write, *piece);
    });
  }

  [[nodiscard]] Interval from(std::size_t statement) const {
    Interval interval;
    std::vector<bool> is_seen(flow_.blocks.size());
    std::vector<std::size_t> todo{statement};
    while (!todo.empty()) {
      const std::size_t begin = todo.back();
      todo.pop_back();
      const BasicBlock& block = flow_.blocks[flow_.block_of(begin)];
      if (comes_to_barrier(begin, block.end, interval)) {
        continue;
      }
      interval.leaves = interval.leaves || block.leaves;
      for (const std::uint32_t next : block.successors) {
        if (!is_seen[next]) {
          is_seen[next] = true;
          todo.push_back(flow_.blocks[next].begin);
        }
      }
    }
    return interval;
  }

  // Before `end`, which is that of a block.
  bool comes_to_barrier(std::size_t begin, std::size_t end, Interval& interval) const {
    const auto barrier = std::ranges::lower_bound(barriers_, begin);
    const bool comes = barrier != barriers_.end() && *barrier < end;
    const std::size_t until = comes ? *barrier : end;
    for (std::size_t at = begin; at < until; ++at) {
      if (may_write_shared(program_.effects[at]) && writes_.may_write(at)) {
        interval.writes.push_back(at);
      }
    }
    interval.parts.emplace_back(begin, until);
    interval.goes_on = interval.goes_on || comes;
    return comes;
  }

  const Program& program_;
  const Function& function_;
  const ControlFlow& flow_;
  const std::vector<Uniformity>& uniform_;
  const SharedWrites writes_;
  const NearStops copies_;
  std::vector<std::size_t> barriers_;  // statements
};

Expected<void> visit(Program& program, std::span<PlannedSite> sites) {
  if (std::ranges::none_of(sites, [](const PlannedSite& site) {
        return site.counts_intervals || site.may_be_counted;
      })) {
    return {};
  }
  const std::uint32_t index = sites.front().function;
  const Function& function = program.function(index);
  TRY(const ControlFlow* const flow, program.flow_of(index));
  const KernelIntervals intervals(program, index, *flow, sites);
  const bool are_whole = intervals.are_whole();
  const std::vector<bool> is_read_only = intervals.find_read_only();
  for (PlannedSite& site : sites) {
    ASSERT(site.statement <= function.body_end);
    site.in_read_only_interval = site.counts_intervals && is_kept_load(site) &&
                                 is_read_only[site.statement - function.body_begin];
    site.is_counted = are_whole && site.may_be_counted;
  }
  if (std::ranges::any_of(sites, &PlannedSite::is_counted)) {
    kernel_of(program, function)->has_block_events = true;
  }
  return {};
}

}  // namespace

Expected<void> run(Program& program) {
  return visit_functions(program,
                         [&](std::span<PlannedSite> sites) { return visit(program, sites); });
}

}  // namespace barracuda::ptx::uniform_barriers
