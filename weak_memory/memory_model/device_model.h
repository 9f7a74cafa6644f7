// The weak memory of the emulated device (docs/decisions/delayed-stores.md) with every choice open:
// a store waits in its thread's buffer, then in its block's, then it is in memory; a load may
// return what its thread would have read earlier, or take place behind later stores; fences,
// releases and barriers drain and bound. `coherence=weak` is one of the choices. Each outcome that
// a run of the device shows is one of these, and each of these is one that PTX allows.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "weak_memory/memory_model/device_memory.h"
#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/outlook.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

class DeviceModel {
 public:
  using State = DeviceState;

  explicit DeviceModel(const LitmusTest& test);

  [[nodiscard]] State initial() const;
  [[nodiscard]] std::vector<Transition> enabled(const State& state) const;
  [[nodiscard]] State apply(State state, const Transition& step) const;
  void encode(const State& state, std::size_t thread, StateBytes& bytes) const;
  static void encode_rest(const State& state, StateBytes& bytes);
  [[nodiscard]] bool is_final(const State& state) const;

  // The memory is zero where the test does not ask for it: its stores need not have drained.
  [[nodiscard]] Final final_of(const State& state) const {
    return {.registers = state.registers, .memory = asks_memory_ ? state.memory : no_memory_};
  }

  [[nodiscard]] bool is_valid(const State& state) const { return memory_.is_valid(state); }

  [[nodiscard]] std::string describe(const State& before, const Transition& step,
                                     const State& after) const;

 private:
  enum Rule : std::uint8_t {
    kExecute,   // the next instruction
    kLoad,      // the next instruction reads past value `other`, or what is there now
    kPostpone,  // the next instruction, a load, is to take place later
    kTakePlace,
    kReach,    // a barrier
    kPublish,  // the thread's oldest store of the location goes to its block
    kCommit    // the block's goes to memory
  };

  static constexpr std::uint8_t kNow = std::numeric_limits<std::uint8_t>::max();

  static Transition step_of(Rule rule, std::size_t thread, std::size_t location);

  [[nodiscard]] const Instruction& instruction_of(std::size_t thread, std::uint32_t number) const {
    return test_.program.threads[thread].instructions[number];
  }

  [[nodiscard]] std::uint64_t value(const State& state, std::size_t thread,
                                    const Operand& operand) const;
  // Which instruction may be executed now.
  [[nodiscard]] bool may_execute(const State& state, std::size_t thread) const;
  [[nodiscard]] bool awaits_late_load(const State& state, std::size_t thread,
                                      const Instruction& next) const;

  void add_drains(const State& state, std::size_t thread, std::vector<Transition>& steps) const;
  void add_commits(const State& state, std::size_t block, std::vector<Transition>& steps) const;
  void add_instruction(const State& state, std::size_t thread,
                       std::vector<Transition>& steps) const;
  void add_load(const State& state, std::size_t thread, std::vector<Transition>& steps) const;
  void touch_cells(std::size_t thread, const Instruction& next, Transition& step) const;

  [[nodiscard]] bool may_read(const State& state, std::size_t thread, std::size_t location) const;
  // Whether it is all the same when this happens.
  [[nodiscard]] bool others_may_write(const State& state, std::size_t thread,
                                      std::size_t location) const;
  [[nodiscard]] bool is_publishing_local(const State& state, std::size_t thread,
                                         std::size_t location) const;
  [[nodiscard]] bool is_commit_local(const State& state, std::size_t block,
                                     std::size_t location) const;

  void execute(State& state, std::size_t thread) const;
  void access_memory(State& state, std::size_t thread, const Instruction& next) const;
  void take_place(State& state, std::size_t thread, const Instruction& load,
                  std::size_t choice) const;
  void forget_unused(State& state) const;

  const LitmusTest& test_;
  Outlook outlook_;
  DeviceMemory memory_;
  std::vector<std::size_t> first_;  // registers, by thread
  bool asks_memory_ = false;
  std::vector<std::uint64_t> no_memory_;
};

}  // namespace barracuda::memory_model
