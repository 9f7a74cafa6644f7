#include "weak_memory/memory_model/strong_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::memory_model {
namespace {

// Named as docs/MODELS.md does.
enum Rule : std::uint8_t {
  kIssue,       // W1, W2, W3
  kStore,       // S4
  kLoad,        // S5
  kShare,       // S6
  kBlockFence,  // S7
  kFence        // S8
};

}  // namespace

StrongModel::StrongModel(const LitmusTest& test, bool in_lockstep)
    : test_(test), queues_(test.program, in_lockstep) {
  const auto& threads = test.program.threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    std::size_t block = blocks_;
    for (std::size_t other = 0; other < i; ++other) {
      if (threads[i].includes(Scope::kCta, threads[other])) {
        block = block_[other];
      }
    }
    block_.push_back(block);
    blocks_ = std::max(blocks_, block + 1);
  }
}

StrongModel::State StrongModel::initial() const {
  State state{.issue = queues_.initial(), .views = {}};
  std::vector<Cell> view;
  view.reserve(test_.program.locations);
  for (std::size_t i = 0; i < test_.program.locations; ++i) {
    view.push_back({.data = test_.program.location(i).initial});
  }
  state.views.assign(blocks_, view);
  return state;
}

std::size_t StrongModel::cell_number(std::size_t block, std::size_t location) const {
  return block * kMostLocations + location;
}

Cells StrongModel::all_copies(std::size_t location) const {
  Cells cells;
  for (std::size_t block = 0; block < blocks_; ++block) {
    cells.set(cell_number(block, location));
  }
  return cells;
}

std::vector<Transition> StrongModel::enabled(const State& state) const {
  std::vector<Transition> steps;
  const auto add = [&](Rule rule, std::size_t thread, std::size_t location) -> Transition& {
    steps.push_back({.rule = rule,
                     .thread = static_cast<std::uint8_t>(thread),
                     .location = static_cast<std::uint8_t>(location)});
    return steps.back();
  };
  for (std::size_t thread = 0; thread < test_.program.threads.size(); ++thread) {
    if (queues_.can_issue(state.issue, thread)) {
      add(kIssue, thread, 0).is_local = true;
    }
    for (std::size_t location = 0; location < test_.program.locations; ++location) {
      const auto& queue = state.issue.queues[thread][location];
      const std::size_t own = cell_number(block_[thread], location);
      if (!queue.empty() && queue.front().kind == Queued::Kind::kLoad) {
        Transition& step = add(kLoad, thread, location);
        step.target = static_cast<std::uint8_t>(queue.front().target);
        step.reads.set(own);
      } else if (!queue.empty() && queue.front().kind == Queued::Kind::kStore) {
        add(kStore, thread, location).writes.set(own);
      }
    }
    if (const auto fence = queues_.fence_of(state.issue, thread)) {
      const bool is_wide = *fence == Queued::Kind::kFence;
      Transition& step = add(is_wide ? kFence : kBlockFence, thread, 0);
      step.is_local = !is_wide;
      for (std::size_t location = 0; is_wide && location < test_.program.locations; ++location) {
        step.writes |= all_copies(location);
      }
    }
  }
  // Sharing is the block's: one thread of each stands for it.
  for (std::size_t block = 0; block < blocks_; ++block) {
    const auto thread = static_cast<std::size_t>(std::ranges::find(block_, block) - block_.begin());
    for (std::size_t location = 0; location < test_.program.locations; ++location) {
      if (!state.views[block][location].is_everywhere) {
        add(kShare, thread, location).writes = all_copies(location);
      }
    }
  }
  return steps;
}

void StrongModel::share(State& state, std::size_t block, std::size_t location) {
  const std::uint64_t data = state.views[block][location].data;
  for (auto& view : state.views) {
    view[location] = {.data = data, .is_everywhere = true};
  }
}

StrongModel::State StrongModel::apply(State state, const Transition& step) const {
  const std::size_t thread = step.thread;
  const std::size_t block = block_[thread];
  auto& queue = state.issue.queues[thread][step.location];
  Cell& cell = state.views[block][step.location];
  switch (static_cast<Rule>(step.rule)) {
    case kIssue:
      queues_.issue(state.issue, thread);
      break;
    case kStore:
      cell = {.data = queue.front().value,
              .is_everywhere = test_.program.location(step.location).is_shared};
      queue.pop_front();
      break;
    case kLoad:
      queues_.register_of(state.issue, thread, step.target) = cell.data;
      queue.pop_front();
      break;
    case kShare:
      share(state, block, step.location);
      break;
    case kFence:
      for (std::size_t location = 0; location < test_.program.locations; ++location) {
        if (!state.views[block][location].is_everywhere) {
          share(state, block, location);
        }
      }
      [[fallthrough]];
    case kBlockFence:
      for (const std::size_t lane : queues_.passing(state.issue, thread)) {
        IssueQueues::pop_fence(state.issue, lane);
      }
      break;
  }
  return state;
}

bool StrongModel::is_valid(const State& state) const {
  return std::ranges::all_of(state.views, [&](const std::vector<Cell>& view) {
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (test_.program.location(i).is_shared && !view[i].is_everywhere) {
        return false;
      }
    }
    return true;
  });
}

void StrongModel::encode(const State& state, std::size_t thread, StateBytes& bytes) const {
  queues_.encode(state.issue, thread, bytes);
}

void StrongModel::encode_rest(const State& state, StateBytes& bytes) const {
  for (const auto& view : state.views) {
    for (const Cell& cell : view) {
      bytes.add(cell.data);
      bytes.add(cell.is_everywhere ? 1 : 0);
    }
  }
}

std::string StrongModel::describe(const State& before, const Transition& step,
                                  const State& after) const {
  const std::string& thread = test_.threads[step.thread];
  const std::string& name = location_name(test_, step.location);
  const std::size_t block = block_[step.thread];
  const std::uint64_t value = after.views[block][step.location].data;
  const std::uint64_t old = before.views[block][step.location].data;
  switch (static_cast<Rule>(step.rule)) {
    case kIssue:
      break;
    case kStore:
      return fmt::format("{} store {}={}, was {}", thread, name, value, old);
    case kLoad:
      return fmt::format("{} load {}={}   {}={}", thread, name, value,
                         test_.registers[step.thread][step.target], value);
    case kShare:
      return fmt::format("{} share {}={} of its block with all", thread, name, value);
    case kBlockFence:
      return thread + " block fence";
    case kFence:
      return thread + " fence: all see what its block has";
  }
  return "";
}

}  // namespace barracuda::memory_model
