// Sequential consistency: the threads' instructions in some order, each at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/reached_barriers.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

class ScModel {
 public:
  struct State {
    std::vector<std::uint32_t> next;  // instruction, by thread
    Outcome registers;
    std::vector<std::uint64_t> memory;
    ReachedBarriers reached;
  };

  ScModel(const LitmusTest& test, bool in_lockstep)
      : test_(test), first_(first_registers(test.program)), in_lockstep_(in_lockstep) {}

  [[nodiscard]] State initial() const;
  [[nodiscard]] std::vector<Transition> enabled(const State& state) const;
  [[nodiscard]] State apply(State state, const Transition& step) const;
  void encode(const State& state, std::size_t thread, StateBytes& bytes) const;
  static void encode_rest(const State& state, StateBytes& bytes);
  [[nodiscard]] bool is_final(const State& state) const;

  [[nodiscard]] Final final_of(const State& state) const {
    return {.registers = state.registers, .memory = state.memory};
  }

  [[nodiscard]] bool is_valid(const State& state) const {
    return state.memory.size() == test_.program.locations;
  }

  [[nodiscard]] std::string describe(const State& before, const Transition& step,
                                     const State& after) const;

 private:
  [[nodiscard]] const Instruction& next_of(const State& state, std::size_t thread) const {
    return test_.program.threads[thread].instructions[state.next[thread]];
  }

  [[nodiscard]] std::uint64_t value(const State& state, std::size_t thread,
                                    const Operand& operand) const;
  void access(State& state, std::size_t thread, const Instruction& instruction) const;

  const LitmusTest& test_;
  std::vector<std::size_t> first_;
  bool in_lockstep_;
};

}  // namespace barracuda::memory_model
