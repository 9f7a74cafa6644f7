#include "weak_memory/memory_model/weak_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.h"
#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::memory_model {
namespace {

// Named as docs/MODELS.md does.
enum Rule : std::uint8_t {
  kIssue,       // W1, W2, W3
  kDrainStore,  // W4
  kDrainLoad,   // W5
  kLoadOwn,     // W6
  kBorrow,      // W7, W8, W9
  kShare,       // W10, W12
  kShareRest,   // W11
  kBlockFence,  // W13
  kFence        // W14
};

Transition step_of(Rule rule, std::size_t thread, std::size_t location = 0) {
  return {.rule = rule,
          .thread = static_cast<std::uint8_t>(thread),
          .location = static_cast<std::uint8_t>(location)};
}

}  // namespace

WeakModel::State WeakModel::initial() const {
  State state{.issue = queues_.initial(),
              .cells = std::vector(test_.program.threads.size(),
                                   std::vector<Cell>(test_.program.locations))};
  for (auto& cells : state.cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i].data = test_.program.location(i).initial;
      cells[i].is_everywhere = !is_shared(i);
    }
  }
  return state;
}

bool WeakModel::is_shared(std::size_t location) const {
  return test_.program.location(location).is_shared;
}

bool WeakModel::are_in_block(std::size_t thread, std::size_t other) const {
  const auto& threads = test_.program.threads;
  return threads[thread].includes(Scope::kCta, threads[other]);
}

std::size_t WeakModel::cell_number(std::size_t thread, std::size_t location) const {
  return thread * kMostLocations + location;
}

std::vector<Transition> WeakModel::enabled(const State& state) const {
  std::vector<Transition> steps;
  for (std::size_t thread = 0; thread < test_.program.threads.size(); ++thread) {
    if (queues_.can_issue(state.issue, thread)) {
      steps.push_back(step_of(kIssue, thread));
      steps.back().is_local = true;
    }
    add_queue_steps(state, thread, steps);
    add_load_steps(state, thread, steps);
    add_sharing_steps(state, thread, steps);
    add_fence_step(state, thread, steps);
  }
  return steps;
}

void WeakModel::add_queue_steps(const State& state, std::size_t thread,
                                std::vector<Transition>& steps) const {
  const auto& pool = state.issue.pools[thread];
  for (std::size_t location = 0; location < test_.program.locations; ++location) {
    const auto& queue = state.issue.queues[thread][location];
    if (queue.empty()) {
      continue;
    }
    if (queue.front().kind == Queued::Kind::kLoad) {
      steps.push_back(step_of(kDrainLoad, thread, location));
      steps.back().is_local = true;
    } else if (queue.front().kind == Queued::Kind::kStore &&
               std::ranges::find(pool, location, &PooledLoad::location) == pool.end()) {
      steps.push_back(step_of(kDrainStore, thread, location));
      steps.back().writes.set(cell_number(thread, location));
    }
  }
}

void WeakModel::add_load_steps(const State& state, std::size_t thread,
                               std::vector<Transition>& steps) const {
  for (const PooledLoad& load : state.issue.pools[thread]) {
    const std::size_t own = cell_number(thread, load.location);
    Transition step = step_of(kLoadOwn, thread, load.location);
    step.target = static_cast<std::uint8_t>(load.target);
    step.reads.set(own);
    steps.push_back(step);
    if (state.cells[thread][load.location].is_borrowed) {
      continue;
    }
    for (std::size_t other = 0; other < state.cells.size(); ++other) {
      const Cell& from = state.cells[other][load.location];
      const bool is_in_block = are_in_block(thread, other);
      if (other == thread ||
          (is_in_block ? from.is_in_block : from.is_everywhere || is_shared(load.location))) {
        continue;
      }
      Transition borrow = step;
      borrow.rule = kBorrow;
      borrow.other = static_cast<std::uint8_t>(other);
      borrow.reads.set(cell_number(other, load.location));
      borrow.writes.set(own);
      steps.push_back(borrow);
    }
  }
}

void WeakModel::add_sharing_steps(const State& state, std::size_t thread,
                                  std::vector<Transition>& steps) const {
  for (std::size_t location = 0; location < test_.program.locations; ++location) {
    const Cell& own = state.cells[thread][location];
    const bool is_new = !own.is_in_block && !own.is_borrowed;
    if (is_new || (!own.is_everywhere && !is_shared(location))) {
      steps.push_back(step_of(is_new ? kShare : kShareRest, thread, location));
      for (std::size_t other = 0; other < state.cells.size(); ++other) {
        steps.back().writes.set(cell_number(other, location));
      }
    }
  }
}

void WeakModel::add_fence_step(const State& state, std::size_t thread,
                               std::vector<Transition>& steps) const {
  const auto fence = queues_.fence_of(state.issue, thread);
  if (!fence) {
    return;
  }
  const bool is_wide = *fence == Queued::Kind::kFence;
  Transition step = step_of(is_wide ? kFence : kBlockFence, thread);
  for (std::size_t location = 0; location < test_.program.locations; ++location) {
    for (std::size_t other = 0; other < state.cells.size(); ++other) {
      step.writes.set(cell_number(other, location));
    }
  }
  steps.push_back(step);
}

void WeakModel::share(State& state, std::size_t thread, std::size_t location, bool with_block,
                      bool with_others) const {
  Cell& own = state.cells[thread][location];
  const bool has_blocks = !is_shared(location);
  for (std::size_t other = 0; other < state.cells.size(); ++other) {
    const bool is_in_block = are_in_block(thread, other);
    if (other != thread && (is_in_block ? with_block : with_others && has_blocks)) {
      state.cells[other][location] = {
          .data = own.data, .is_borrowed = false, .is_in_block = true, .is_everywhere = has_blocks};
    }
  }
  own.is_in_block = own.is_in_block || with_block;
  own.is_everywhere = has_blocks && (own.is_everywhere || with_others);
}

void WeakModel::pass_fence(State& state, std::size_t thread, bool is_wide) const {
  IssueQueues::pop_fence(state.issue, thread);
  for (std::size_t location = 0; location < test_.program.locations; ++location) {
    const Cell own = state.cells[thread][location];
    const bool with_others =
        is_wide && !is_shared(location) && !(own.is_in_block && own.is_everywhere);
    share(state, thread, location, !own.is_in_block, with_others);
  }
}

WeakModel::State WeakModel::apply(State state, const Transition& step) const {
  const std::size_t thread = step.thread;
  const std::size_t location = step.location;
  IssueState& issue = state.issue;
  Cell& own = state.cells[thread][location];
  auto& pool = issue.pools[thread];
  switch (static_cast<Rule>(step.rule)) {
    case kIssue:
      queues_.issue(issue, thread);
      break;
    case kDrainStore:
      own = {.data = issue.queues[thread][location].front().value,
             .is_borrowed = false,
             .is_in_block = false,
             .is_everywhere = false};
      issue.queues[thread][location].pop_front();
      break;
    case kDrainLoad:
      pool.push_back(
          {.location = step.location, .target = issue.queues[thread][location].front().target});
      std::ranges::sort(pool);
      issue.queues[thread][location].pop_front();
      break;
    case kBorrow:
      own = {.data = state.cells[step.other][location].data,
             .is_borrowed = true,
             .is_in_block = true,
             .is_everywhere = !is_shared(location)};
      [[fallthrough]];
    case kLoadOwn:
      queues_.register_of(issue, thread, step.target) = own.data;
      std::erase(pool, PooledLoad{.location = step.location, .target = step.target});
      break;
    case kShare:
      share(state, thread, location, true, true);
      break;
    case kShareRest:
      share(state, thread, location, false, true);
      break;
    case kBlockFence:
    case kFence:
      for (const std::size_t lane : queues_.passing(issue, thread)) {
        pass_fence(state, lane, step.rule == kFence);
      }
      break;
  }
  return state;
}

bool WeakModel::is_valid(const State& state) const {
  for (const auto& cells : state.cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Cell& cell = cells[i];
      const bool borrows_shared = !cell.is_borrowed || cell.is_in_block;
      const bool is_known = is_shared(i) ? !cell.is_everywhere
                                         : (!cell.is_everywhere || cell.is_in_block) &&
                                               (!cell.is_borrowed || cell.is_everywhere);
      if (!borrows_shared || !is_known) {
        return false;
      }
    }
  }
  return true;
}

void WeakModel::encode(const State& state, std::size_t thread, StateBytes& bytes) const {
  queues_.encode(state.issue, thread, bytes);
  for (const Cell& cell : state.cells[thread]) {
    bytes.add(cell.data);
    bytes.add((cell.is_borrowed ? 1U : 0U) | (cell.is_in_block ? 2U : 0U) |
              (cell.is_everywhere ? 4U : 0U));
  }
}

void WeakModel::encode_rest(const State& /*state*/, StateBytes& /*bytes*/) const {}

std::string WeakModel::describe(const State& before, const Transition& step,
                                const State& after) const {
  const std::string& thread = test_.threads[step.thread];
  const std::string& name = location_name(test_, step.location);
  const std::uint64_t value = after.cells[step.thread][step.location].data;
  const auto loaded = [&] { return test_.registers[step.thread][step.target]; };
  switch (static_cast<Rule>(step.rule)) {
    case kIssue:
    case kDrainLoad:
      break;
    case kDrainStore:
      return fmt::format("{} store {}={} to its own copy", thread, name, value);
    case kLoadOwn:
      return fmt::format("{} load {}={} from its own copy   {}={}", thread, name, value, loaded(),
                         value);
    case kBorrow:
      return fmt::format("{} borrow {}={} from {}   {}={}", thread, name, value,
                         test_.threads[step.other], loaded(), value);
    case kShare:
    case kShareRest:
      return fmt::format("{} share {}={} with {}", thread, name, value,
                         step.rule == kShareRest    ? "other blocks"
                         : is_shared(step.location) ? "its block"
                                                    : "all");
    case kBlockFence:
      return thread + " block fence: its block sees its stores";
    case kFence:
      return thread + " fence: all see its stores";
  }
  ASSERT(!before.cells.empty());
  return "";
}

}  // namespace barracuda::memory_model
