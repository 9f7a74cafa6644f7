// Every state that a model with states reaches from a program: depth first, states told apart by
// hash, with two reductions. A local step is taken alone, unless that would close a cycle on the
// stack (Godefroid, "Partial-Order Methods", 1996). Sleep sets leave out the
// second order of two independent steps; a state that is met again with fewer sleeping steps is
// taken up again for those.
//
// A Model has State, initial(), enabled(state), apply(state, transition), encode(state, thread,
// bytes), encode_rest(state, bytes), is_final(state), final_of(state), is_valid(state) and
// describe(before, transition, after), which is empty of a step that tells nothing.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/state_keys.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

template <typename Model>
class Explorer {
 public:
  using State = typename Model::State;
  using IsGood = std::function<bool(const State&)>;

  // `is_good`: what must hold in every state; empty: nothing. Of threads that are alike a final has
  // them in some order.
  Explorer(const Model& model, const ExploreOptions& options, std::size_t threads, Groups alike,
           IsGood is_good)
      : model_(model),
        options_(options),
        threads_(threads),
        alike_(std::move(alike)),
        is_good_(std::move(is_good)),
        bounds_(options_) {}

  Exploration run() && {
    visit(model_.initial(), {});
    while (!stack_.empty() && found_.bound.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == frame.steps.size()) {
        --states_[frame.key].on_stack;
        stack_.pop_back();
        continue;
      }
      const Transition step = frame.steps[frame.next++];
      Steps sleep;
      for (const Transition& other : frame.sleep) {
        if (other.is_independent_of(step)) {
          sleep.push_back(other);
        }
      }
      // With alike threads one state stands for several, whose sleeping steps have other names.
      if (options_.reduce && alike_.empty()) {
        frame.sleep.push_back(step);
      }
      visit(model_.apply(frame.state, step), std::move(sleep));
      if (found_.violation) {
        break;
      }
    }
    return std::move(found_);
  }

 private:
  using Steps = std::vector<Transition>;

  struct Frame {
    State state;
    std::string key;
    Steps steps;  // to be taken from here
    std::size_t next = 0;
    Steps sleep;
  };

  struct Known {
    std::set<std::uint64_t> sleep;  // keys of steps that were not taken from here
    std::uint32_t on_stack = 0;     // frames of it
  };

  static bool sleeps(const Steps& sleep, const Transition& step) {
    return std::ranges::find(sleep, step.key(), &Transition::key) != sleep.end();
  }

  [[nodiscard]] std::string key(const State& state) const {
    return key_of(model_, state, threads_, alike_, options_.exact);
  }

  void visit(State state, Steps sleep) {
    std::string own_key = key(state);
    const auto [place, is_new] = states_.try_emplace(own_key);
    Known& known = place->second;
    Steps steps = model_.enabled(state);
    if (is_new) {
      ASSERT(model_.is_valid(state));
      bytes_ += kBytesOfState + own_key.size();
      found_.bound = bounds_.hit(++found_.states, bytes_ + kBytesOfFrame * stack_.size());
      steps = reduced(state, std::move(steps));
      std::erase_if(steps, [&](const Transition& step) { return sleeps(sleep, step); });
      for (const Transition& step : sleep) {
        known.sleep.insert(step.key());
      }
    } else {
      std::erase_if(steps, [&](const Transition& step) {
        return !known.sleep.contains(step.key()) || sleeps(sleep, step);
      });
      std::erase_if(known.sleep, [&](std::uint64_t each) {
        return std::ranges::find(sleep, each, &Transition::key) == sleep.end();
      });
      if (steps.empty()) {
        return;
      }
    }
    ++known.on_stack;
    stack_.push_back({std::move(state), std::move(own_key), std::move(steps), 0, std::move(sleep)});
    if (is_new && model_.is_final(stack_.back().state)) {
      keep_final();
    }
    if (is_good_ && is_new && !is_good_(stack_.back().state)) {
      found_.violation = witness();
    }
  }

  // Registers may change in a local step: with something to hold in every state none is left out.
  [[nodiscard]] Steps reduced(const State& state, Steps steps) const {
    if (!options_.reduce || is_good_) {
      return steps;
    }
    for (const Transition& step : steps) {
      if (step.is_local) {
        const auto after = states_.find(key(model_.apply(state, step)));
        if (after == states_.end() || after->second.on_stack == 0) {
          return {step};
        }
      }
    }
    return steps;
  }

  void keep_final() {
    const auto [place, is_new] = found_.finals.try_emplace(model_.final_of(stack_.back().state));
    if (is_new) {
      place->second = witness();
    }
  }

  // The steps on the stack, without those that tell nothing.
  [[nodiscard]] Witness witness() const {
    Witness made;
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i) {
      const Transition& step = stack_[i].steps[stack_[i].next - 1];
      std::string line = model_.describe(stack_[i].state, step, stack_[i + 1].state);
      if (!line.empty()) {
        made.lines.push_back(std::move(line));
      }
    }
    return made;
  }

  static constexpr std::uint64_t kBytesOfState = 160;   // of its row in states_, about
  static constexpr std::uint64_t kBytesOfFrame = 4096;  // with its steps, about

  const Model& model_;
  ExploreOptions options_;
  std::size_t threads_;
  Groups alike_;
  IsGood is_good_;
  StateBounds bounds_;
  std::unordered_map<std::string, Known> states_;
  std::vector<Frame> stack_;
  Exploration found_;
  std::uint64_t bytes_ = 0;
};

}  // namespace barracuda::memory_model
