#include "weak_memory/memory_model/issue_queues.h"

#include <algorithm>

#include "base/assert.h"
#include "weak_memory/memory_model/lockstep.h"

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

bool is_pending(const IssueState& state, std::size_t thread, std::uint32_t target) {
  return std::ranges::any_of(state.pools[thread],
                             [&](const PooledLoad& load) { return load.target == target; }) ||
         std::ranges::any_of(state.queues[thread], [&](const std::deque<Queued>& queue) {
           return std::ranges::any_of(queue, [&](const Queued& each) {
             return each.kind == Queued::Kind::kLoad && each.target == target;
           });
         });
}

}  // namespace

IssueState IssueQueues::initial() const {
  const std::size_t threads = program_.threads.size();
  return {.next = std::vector<std::uint32_t>(threads),
          .registers = initial_registers(program_),
          .queues = std::vector(threads, std::vector<std::deque<Queued>>(program_.locations)),
          .pools = std::vector<std::vector<PooledLoad>>(threads)};
}

bool IssueQueues::is_valid(const IssueState& state) const {
  const std::size_t threads = program_.threads.size();
  bool is_inside = state.next.size() == threads && state.queues.size() == threads &&
                   state.pools.size() == threads;
  for (std::size_t thread = 0; is_inside && thread < threads; ++thread) {
    is_inside = state.next[thread] <= program_.threads[thread].instructions.size() &&
                state.queues[thread].size() == program_.locations &&
                std::ranges::is_sorted(state.pools[thread]);
  }
  return is_inside;
}

bool IssueQueues::can_issue(const IssueState& state, std::size_t thread) const {
  const auto& instructions = program_.threads[thread].instructions;
  if (state.next[thread] >= instructions.size() ||
      (in_lockstep_ && !is_in_step(program_, state.next, thread))) {
    return false;
  }
  const Instruction& next = instructions[state.next[thread]];
  const auto waits_for = [&](const std::optional<std::uint32_t>& number) {
    return number && is_pending(state, thread, *number);
  };
  return !waits_for(next.target) && !waits_for(next.value.read) && !waits_for(next.second.read);
}

std::uint64_t IssueQueues::value(const IssueState& state, std::size_t thread,
                                 const Operand& operand) const {
  return operand.read ? state.registers[first_[thread] + *operand.read] : operand.constant;
}

void IssueQueues::issue(IssueState& state, std::size_t thread) const {
  const Instruction& next = program_.threads[thread].instructions[state.next[thread]++];
  const std::uint64_t left = value(state, thread, next.value);
  const std::uint64_t right = value(state, thread, next.second);
  if (next.kind == Kind::kLoad) {
    state.queues[thread][next.location].push_back(
        {.kind = Queued::Kind::kLoad, .target = *next.target});
  } else if (next.kind == Kind::kStore) {
    state.queues[thread][next.location].push_back({.kind = Queued::Kind::kStore, .value = left});
  } else if (next.kind == Kind::kFence) {
    for (auto& queue : state.queues[thread]) {
      queue.push_back(
          {.kind = next.scope == Scope::kCta ? Queued::Kind::kBlockFence : Queued::Kind::kFence});
    }
  } else if (next.kind == Kind::kCompute) {
    register_of(state, thread, *next.target) = compute(next.operation, left, right);
  } else {
    ASSERT(next.kind == Kind::kJump);  // the rest was refused
    if (compare(next.comparison, left, right)) {
      state.next[thread] = next.destination;
    }
  }
  DEBUG_ASSERT(is_valid(state));
}

std::vector<std::size_t> IssueQueues::passing(const IssueState& state, std::size_t thread) const {
  if (!in_lockstep_) {
    return {thread};
  }
  std::vector<std::size_t> found;
  for (std::size_t other = 0; other < program_.threads.size(); ++other) {
    const bool has_fence = std::ranges::any_of(state.queues[other], [](const auto& queue) {
      return std::ranges::any_of(queue, [](const Queued& each) {
        return each.kind == Queued::Kind::kFence || each.kind == Queued::Kind::kBlockFence;
      });
    });
    if (has_fence && program_.threads[thread].includes(Scope::kCta, program_.threads[other])) {
      found.push_back(other);
    }
  }
  return found;
}

std::optional<Queued::Kind> IssueQueues::fence_of(const IssueState& state,
                                                  std::size_t thread) const {
  const auto kind = fence_at_head(state, thread);
  if (!kind || !in_lockstep_) {
    return kind;
  }
  // No thread has still to issue it.
  const std::vector<std::size_t> lanes = passing(state, thread);
  const bool are_ready =
      is_in_step(program_, state.next, thread) && std::ranges::all_of(lanes, [&](std::size_t lane) {
        return fence_at_head(state, lane) == kind;
      });
  return are_ready && lanes.front() == thread ? kind : std::nullopt;
}

std::optional<Queued::Kind> IssueQueues::fence_at_head(const IssueState& state,
                                                       std::size_t thread) const {
  for (const auto& queue : state.queues[thread]) {
    if (queue.empty() || (queue.front().kind != Queued::Kind::kFence &&
                          queue.front().kind != Queued::Kind::kBlockFence)) {
      return std::nullopt;
    }
  }
  if (program_.locations == 0 || !state.pools[thread].empty()) {
    return std::nullopt;
  }
  return state.queues[thread].front().front().kind;
}

void IssueQueues::pop_fence(IssueState& state, std::size_t thread) {
  for (auto& queue : state.queues[thread]) {
    queue.pop_front();
  }
}

bool IssueQueues::has_ended(const IssueState& state) const {
  for (std::size_t i = 0; i < program_.threads.size(); ++i) {
    if (state.next[i] < program_.threads[i].instructions.size() || !state.pools[i].empty() ||
        !std::ranges::all_of(state.queues[i], &std::deque<Queued>::empty)) {
      return false;
    }
  }
  return true;
}

void IssueQueues::encode(const IssueState& state, std::size_t thread, StateBytes& bytes) const {
  bytes.add(state.next[thread]);
  for (std::size_t reg = first_[thread]; reg < first_[thread + 1]; ++reg) {
    bytes.add(state.registers[reg]);
  }
  for (const auto& queue : state.queues[thread]) {
    bytes.add(queue.size());
    for (const Queued& each : queue) {
      bytes.add(static_cast<std::uint64_t>(each.kind));
      bytes.add(each.target);
      bytes.add(each.value);
    }
  }
  bytes.add(state.pools[thread].size());
  for (const PooledLoad& load : state.pools[thread]) {
    bytes.add(load.location);
    bytes.add(load.target);
  }
}

}  // namespace barracuda::memory_model
