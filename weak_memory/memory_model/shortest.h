// The same states as explorer.h's, nearest first: the first way to an end is one of the fewest
// steps, local steps not counted. All states that were met and not yet left are kept, which takes
// memory.
#pragma once

#include <deque>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/state_keys.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

template <typename Model>
class ShortestWays {
 public:
  using State = typename Model::State;

  ShortestWays(const Model& model, const ExploreOptions& options, std::size_t threads, Groups alike)
      : model_(model),
        options_(options),
        threads_(threads),
        alike_(std::move(alike)),
        bounds_(options_) {}

  Exploration run() && {
    add(model_.initial(), {}, false);
    while (!waiting_.empty() && found_.bound.empty()) {
      const Waiting from = std::move(waiting_.front());
      waiting_.pop_front();
      if (!left_.insert(key(from.state)).second) {
        continue;  // was reached by fewer steps too
      }
      ASSERT(model_.is_valid(from.state));
      ++found_.states;
      found_.bound = bounds_.hit(found_.states,
                                 kBytesOfState * found_.states + kBytesWaiting * waiting_.size());
      if (model_.is_final(from.state)) {
        const auto [place, is_new] = found_.finals.try_emplace(model_.final_of(from.state));
        if (is_new) {
          place->second = witness(from.way);
        }
      }
      leave(from);
    }
    return std::move(found_);
  }

 private:
  struct Way {
    std::size_t from = 0;    // number of the way to the state before
    std::uint64_t step = 0;  // Transition::key()
  };

  struct Waiting {
    State state;
    std::size_t way = 0;
  };

  [[nodiscard]] std::string key(const State& state) const {
    return key_of(model_, state, threads_, alike_, options_.exact);
  }

  void leave(const Waiting& from) {
    struct Next {
      State state;
      Way way;
      bool is_told = false;
    };

    std::vector<Next> all;
    for (const Transition& step : model_.enabled(from.state)) {
      Next next{.state = model_.apply(from.state, step),
                .way = {.from = from.way, .step = step.key()},
                .is_told = false};
      next.is_told = !model_.describe(from.state, step, next.state).empty();
      // Alone, as explorer.h takes it; not back to where the search has been, and nothing that the
      // shortest way might do without.
      if (options_.reduce && step.is_local && !next.is_told && !left_.contains(key(next.state))) {
        add(std::move(next.state), next.way, true);
        return;
      }
      all.push_back(std::move(next));
    }
    for (Next& next : all) {
      add(std::move(next.state), next.way, !next.is_told);
    }
  }

  void add(State state, const Way& way, bool costs_nothing) {
    ways_.push_back(way);
    Waiting waiting{.state = std::move(state), .way = ways_.size() - 1};
    if (costs_nothing) {
      waiting_.push_front(std::move(waiting));
    } else {
      waiting_.push_back(std::move(waiting));
    }
  }

  [[nodiscard]] Witness witness(std::size_t way) const {
    std::vector<std::uint64_t> keys;
    for (; way != 0; way = ways_[way].from) {
      keys.push_back(ways_[way].step);
    }
    Witness made;
    State state = model_.initial();
    for (std::size_t i = keys.size(); i-- > 0;) {
      const std::vector<Transition> steps = model_.enabled(state);
      const auto step = std::ranges::find(steps, keys[i], &Transition::key);
      ASSERT(step != steps.end());
      State after = model_.apply(state, *step);
      std::string line = model_.describe(state, *step, after);
      if (!line.empty()) {
        made.lines.push_back(std::move(line));
      }
      state = std::move(after);
    }
    return made;
  }

  static constexpr std::uint64_t kBytesOfState = 160;   // of its row in left_, about
  static constexpr std::uint64_t kBytesWaiting = 1024;  // about

  const Model& model_;
  ExploreOptions options_;
  std::size_t threads_;
  Groups alike_;
  StateBounds bounds_;
  std::unordered_set<std::string> left_;
  std::deque<Waiting> waiting_;
  std::vector<Way> ways_;
  Exploration found_;
};

}  // namespace barracuda::memory_model
