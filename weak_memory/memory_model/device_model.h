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

#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/outlook.h"
#include "weak_memory/memory_model/reached_barriers.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

class DeviceModel {
 public:
  struct Store {
    std::uint32_t location = 0;
    std::uint64_t value = 0;
  };

  using Buffer = std::vector<Store>;  // oldest first

  struct ThreadState {
    std::uint32_t next = 0;  // instruction
    Buffer buffer;
    std::vector<std::uint32_t> late;  // loads that were issued and have not taken place; sorted
    // By location: what it may still read though it is older than what its block sees, oldest
    // first, no value twice in a row. Empty where no load can ask for it any more.
    std::vector<std::vector<std::uint64_t>> past;
  };

  struct State {
    std::vector<ThreadState> threads;
    Outcome registers;
    std::vector<Buffer> blocks;
    std::vector<std::uint64_t> memory;
    ReachedBarriers reached;
  };

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

  // Nothing waits for a block that nobody is to see there.
  [[nodiscard]] bool is_valid(const State& state) const;
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
  static bool waits_in(const Buffer& buffer, std::size_t location);

  [[nodiscard]] const Instruction& instruction_of(std::size_t thread, std::uint32_t number) const {
    return test_.program.threads[thread].instructions[number];
  }

  [[nodiscard]] std::uint64_t value(const State& state, std::size_t thread,
                                    const Operand& operand) const;
  // Where stores of a thread go next: to memory where nobody is to see them earlier.
  [[nodiscard]] bool skips_block(std::size_t thread, std::size_t location) const;
  [[nodiscard]] std::uint64_t seen_by_block(const State& state, std::size_t block,
                                            std::size_t location) const;
  [[nodiscard]] std::uint64_t seen(const State& state, std::size_t thread,
                                   std::size_t location) const;

  // Which instruction may be executed now.
  [[nodiscard]] bool may_execute(const State& state, std::size_t thread) const;
  [[nodiscard]] bool awaits_late_load(const State& state, std::size_t thread,
                                      const Instruction& next) const;
  [[nodiscard]] bool is_drained(const State& state, std::size_t thread, Scope scope) const;

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
  void publish(State& state, std::size_t thread, std::size_t location) const;
  void commit(State& state, std::size_t block, std::size_t location) const;
  void write_memory(State& state, std::size_t location, std::uint64_t value) const;
  // What the threads of a block would have read so far is past from now on.
  void note_change(State& state, std::size_t block, std::size_t location,
                   std::uint64_t before) const;
  void forget_unused(State& state) const;

  // What the block sees of the location, and what of it waits there.
  static std::size_t cell_of(std::size_t block, std::size_t location) {
    return block * kMostLocations + location;
  }

  [[nodiscard]] Cells cells_of_all(std::size_t location) const;
  [[nodiscard]] Cells cells_of_block(std::size_t block) const;

  const LitmusTest& test_;
  Outlook outlook_;
  std::vector<std::size_t> first_;           // registers, by thread
  std::vector<std::size_t> block_;           // by thread
  std::vector<std::size_t> threads_in_;      // by block
  std::vector<std::size_t> representative_;  // a thread of each block
  bool asks_memory_ = false;
  std::vector<std::uint64_t> no_memory_;
};

}  // namespace barracuda::memory_model
