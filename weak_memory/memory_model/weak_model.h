// The thesis's weak model (docs/MODELS.md has its rules): every thread has a copy of all memory;
// values reach other copies by being borrowed, shared, or by a fence of the thread that wrote them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weak_memory/memory_model/issue_queues.h"
#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

class WeakModel {
 public:
  // A thread's copy of a location.
  struct Cell {
    std::uint64_t data = 0;
    // Whether the value is another thread's; was shared with the block; with all blocks. Shared
    // memory has no use for the last.
    bool is_borrowed = false, is_in_block = true, is_everywhere = true;
  };

  struct State {
    IssueState issue;
    std::vector<std::vector<Cell>> cells;  // by thread and location
  };

  WeakModel(const LitmusTest& test, bool in_lockstep)
      : test_(test), queues_(test.program, in_lockstep) {}

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

  // Table 4.1 of the thesis.
  [[nodiscard]] bool is_valid(const State& state) const;
  [[nodiscard]] std::string describe(const State& before, const Transition& step,
                                     const State& after) const;

 private:
  [[nodiscard]] bool is_shared(std::size_t location) const;
  [[nodiscard]] bool are_in_block(std::size_t thread, std::size_t other) const;
  [[nodiscard]] std::size_t cell_number(std::size_t thread, std::size_t location) const;
  void add_queue_steps(const State& state, std::size_t thread,
                       std::vector<Transition>& steps) const;
  void add_load_steps(const State& state, std::size_t thread, std::vector<Transition>& steps) const;
  void add_sharing_steps(const State& state, std::size_t thread,
                         std::vector<Transition>& steps) const;
  void add_fence_step(const State& state, std::size_t thread, std::vector<Transition>& steps) const;
  // Whom a fence, or one step of sharing, gives the thread's value to.
  void share(State& state, std::size_t thread, std::size_t location, bool with_block,
             bool with_others) const;
  void pass_fence(State& state, std::size_t thread, bool is_wide) const;

  const LitmusTest& test_;
  IssueQueues queues_;
};

}  // namespace barracuda::memory_model
