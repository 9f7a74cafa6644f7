#include "emulator/decode/register_uses.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/assert.h"

namespace barracuda::emulator {

namespace {

// What a step does to one register.
struct Touch {
  std::uint32_t step = 0;
  bool reads = false, writes = false;
  bool replaces = false;  // writes whatever the predicate
};

struct Block {
  std::uint32_t begin = 0, end = 0;  // steps
  std::vector<std::uint32_t> successors, predecessors;
};

std::vector<Block> find_blocks(const std::vector<StepEnd>& ends) {
  const auto steps = static_cast<std::uint32_t>(ends.size());
  std::vector<bool> begins(steps + 1, false);
  begins[0] = begins[steps] = true;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (const std::uint32_t target : ends[step].targets) {
      begins[target] = true;
    }
    if (!ends[step].goes_on || !ends[step].targets.empty()) {
      begins[step + 1] = true;
    }
  }
  std::vector<Block> blocks;
  std::vector<std::uint32_t> block_of(steps);
  for (std::uint32_t step = 0; step < steps; ++step) {
    if (begins[step]) {
      blocks.push_back({.begin = step, .end = step});
    }
    block_of[step] = static_cast<std::uint32_t>(blocks.size()) - 1;
    ++blocks.back().end;
  }
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const StepEnd& end = ends[blocks[i].end - 1];
    for (const std::uint32_t target : end.targets) {
      blocks[i].successors.push_back(block_of[target]);
    }
    if (end.goes_on && i + 1 < blocks.size()) {
      blocks[i].successors.push_back(i + 1);
    }
    for (const std::uint32_t successor : blocks[i].successors) {
      blocks[successor].predecessors.push_back(i);
    }
  }
  return blocks;
}

// Finds the stretches of one register after the other: from each read back to the writes that it
// may see, so that the work is as much as the blocks in which the register is alive.
class Liveness {
 public:
  explicit Liveness(const std::vector<StepEnd>& ends)
      : blocks_(find_blocks(ends)), states_(blocks_.size()) {
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      block_of_.resize(blocks_[i].end, i);
    }
  }

  std::vector<Stretch> stretches(std::span<const Touch> touches);

 private:
  struct State {
    std::span<const Touch> touches;
    bool alive_before = false, alive_behind = false;
    bool holds_before = false, holds_behind = false;  // perhaps a value that was written
  };

  State& state(std::uint32_t block);
  void split(std::span<const Touch> touches);
  void go_back();
  void go_forward();
  void add_block(std::uint32_t block, std::vector<Stretch>& stretches) const;

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> block_of_;  // by step
  std::vector<State> states_;            // by block, of the register that is looked at
  std::vector<std::uint32_t> seen_;      // the blocks whose states are in use
  std::vector<bool> is_seen_ = std::vector<bool>(blocks_.size());
  std::vector<std::uint32_t> work_;
};

Liveness::State& Liveness::state(std::uint32_t block) {
  if (!is_seen_[block]) {
    is_seen_[block] = true;
    seen_.push_back(block);
    states_[block] = {};
  }
  return states_[block];
}

// Gives each block its touches; those that read what came before are where to begin.
void Liveness::split(std::span<const Touch> touches) {
  while (!touches.empty()) {
    const std::uint32_t block = block_of_[touches.front().step];
    const auto behind = std::ranges::find_if(
        touches, [&](const Touch& touch) { return touch.step >= blocks_[block].end; });
    State& its_state = state(block);
    its_state.touches = {touches.begin(), behind};
    touches = {behind, touches.end()};
    for (const Touch& touch : its_state.touches) {
      if (touch.reads) {
        its_state.alive_before = true;
        work_.push_back(block);
      }
      if (touch.reads || touch.replaces) {
        break;
      }
    }
  }
}

void Liveness::go_back() {
  while (!work_.empty()) {
    const std::uint32_t block = work_.back();
    work_.pop_back();
    for (const std::uint32_t predecessor : blocks_[block].predecessors) {
      State& before = state(predecessor);
      before.alive_behind = true;
      const bool passes = std::ranges::none_of(before.touches, &Touch::replaces);
      if (passes && !before.alive_before) {
        before.alive_before = true;
        work_.push_back(predecessor);
      }
    }
  }
}

// From the writes along where the register is alive.
void Liveness::go_forward() {
  for (const std::uint32_t block : seen_) {
    State& its_state = states_[block];
    its_state.holds_behind =
        its_state.alive_behind && std::ranges::any_of(its_state.touches, &Touch::writes);
    if (its_state.holds_behind) {
      work_.push_back(block);
    }
  }
  while (!work_.empty()) {
    const std::uint32_t block = work_.back();
    work_.pop_back();
    for (const std::uint32_t successor : blocks_[block].successors) {
      if (!is_seen_[successor] || !states_[successor].alive_before) {
        continue;
      }
      State& next = states_[successor];
      next.holds_before = true;
      if (next.alive_behind && !next.holds_behind) {
        next.holds_behind = true;
        work_.push_back(successor);
      }
    }
  }
}

void add(std::vector<Stretch>& stretches, std::uint32_t first, std::uint32_t last) {
  if (!stretches.empty() && stretches.back().last + 1 >= first) {
    stretches.back().last = std::max(stretches.back().last, last);
  } else {
    stretches.push_back({.first = first, .last = last});
  }
}

void Liveness::add_block(std::uint32_t block, std::vector<Stretch>& stretches) const {
  const std::uint32_t begin = blocks_[block].begin, end = blocks_[block].end;
  const State& its_state = states_[block];
  if (its_state.touches.empty()) {
    if (its_state.holds_before && its_state.holds_behind) {
      add(stretches, begin, end - 1);
    }
    return;
  }
  // A touch that does not replace the value keeps it alive up to here.
  bool holds = its_state.holds_before;
  std::uint32_t from = begin;
  for (const Touch& touch : its_state.touches) {
    const bool keeps = touch.reads || !touch.replaces;
    add(stretches, holds && keeps ? from : touch.step, touch.step);
    holds = holds || touch.writes;
    from = touch.step;
  }
  if (its_state.holds_behind) {
    add(stretches, from, end - 1);
  }
}

std::vector<Stretch> Liveness::stretches(std::span<const Touch> touches) {
  split(touches);
  go_back();
  go_forward();
  std::ranges::sort(seen_);
  std::vector<Stretch> stretches;
  for (const std::uint32_t block : seen_) {
    add_block(block, stretches);
    is_seen_[block] = false;
  }
  seen_.clear();
  return stretches;
}

}  // namespace

std::vector<std::vector<Stretch>> RegisterUses::stretches(const std::vector<StepEnd>& ends) const {
  ASSERT(ends.size() == steps());
  // By register: where its touches begin among all.
  std::vector<std::uint32_t> begins(classes_.size() + 1, 0);
  for (const Access& access : accesses_) {
    ++begins[access.number + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<Touch> touches(accesses_.size());
  std::vector<std::uint32_t> fills(begins.begin(), begins.end() - 1);
  for (const Access& access : accesses_) {
    std::uint32_t& fill = fills[access.number];
    if (fill == begins[access.number] || touches[fill - 1].step != access.step) {
      touches[fill++].step = access.step;
    }
    Touch& touch = touches[fill - 1];
    touch.reads = touch.reads || access.kind == Access::kRead;
    touch.writes = touch.writes || access.kind != Access::kRead;
    touch.replaces = touch.replaces || access.kind == Access::kWrite;
  }
  Liveness liveness(ends);
  const std::span<const Touch> all(touches);
  std::vector<std::vector<Stretch>> result;
  result.reserve(classes_.size());
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    result.push_back(liveness.stretches(all.subspan(begins[i], fills[i] - begins[i])));
  }
  return result;
}

}  // namespace barracuda::emulator
