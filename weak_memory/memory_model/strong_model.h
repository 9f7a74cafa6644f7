// The thesis's strong model: the threads of a block have one view of memory, loads take place in
// the order of their location, and a value goes from a block to all others at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weak_memory/memory_model/issue_queues.h"
#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

class StrongModel {
 public:
  // A block's view of a location.
  struct Cell {
    std::uint64_t data = 0;
    bool is_everywhere = true;  // all blocks have it
  };

  struct State {
    IssueState issue;
    std::vector<std::vector<Cell>> views;  // by block and location
  };

  StrongModel(const LitmusTest& test, bool in_lockstep);

  [[nodiscard]] State initial() const;
  [[nodiscard]] std::vector<Transition> enabled(const State& state) const;
  [[nodiscard]] State apply(State state, const Transition& step) const;
  // What of a state is the thread's, and what is not one thread's.
  void encode(const State& state, std::size_t thread, StateBytes& bytes) const;
  void encode_rest(const State& state, StateBytes& bytes) const;

  [[nodiscard]] bool is_final(const State& state) const { return queues_.has_ended(state.issue); }

  [[nodiscard]] Final final_of(const State& state) const {
    return {.registers = state.issue.registers, .memory = {}};
  }

  // Shared memory has nothing to share.
  [[nodiscard]] bool is_valid(const State& state) const;
  [[nodiscard]] std::string describe(const State& before, const Transition& step,
                                     const State& after) const;

 private:
  [[nodiscard]] std::size_t cell_number(std::size_t block, std::size_t location) const;
  [[nodiscard]] Cells all_copies(std::size_t location) const;
  static void share(State& state, std::size_t block, std::size_t location);

  const LitmusTest& test_;
  IssueQueues queues_;
  std::vector<std::size_t> block_;  // by thread
  std::size_t blocks_ = 0;
};

}  // namespace barracuda::memory_model
