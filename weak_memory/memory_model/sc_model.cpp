#include "weak_memory/memory_model/sc_model.h"

#include <fmt/format.h>

#include "weak_memory/memory_model/litmus_text.h"
#include "weak_memory/memory_model/lockstep.h"

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

enum Rule : std::uint8_t { kExecute, kReach };

}  // namespace

ScModel::State ScModel::initial() const {
  State state{.next = std::vector<std::uint32_t>(test_.program.threads.size()),
              .registers = initial_registers(test_.program),
              .memory = {},
              .reached = {}};
  for (std::size_t i = 0; i < test_.program.locations; ++i) {
    state.memory.push_back(test_.program.location(i).initial);
  }
  return state;
}

std::uint64_t ScModel::value(const State& state, std::size_t thread, const Operand& operand) const {
  return operand.read ? state.registers[first_[thread] + *operand.read] : operand.constant;
}

std::vector<Transition> ScModel::enabled(const State& state) const {
  std::vector<Transition> steps;
  for (std::size_t thread = 0; thread < test_.program.threads.size(); ++thread) {
    if (state.next[thread] >= test_.program.threads[thread].instructions.size() ||
        (in_lockstep_ && !is_in_step(test_.program, state.next, thread))) {
      continue;
    }
    const Instruction& next = next_of(state, thread);
    Transition step{.rule = kExecute, .thread = static_cast<std::uint8_t>(thread)};
    if (next.kind == Kind::kBarrier && !state.reached.contains({thread, state.next[thread]})) {
      step.rule = kReach;
    } else if (next.kind == Kind::kBarrier &&
               !is_open(test_.program, state.reached, thread, state.next[thread],
                        next.quorum ? value(state, thread, *next.quorum) : 0)) {
      continue;
    }
    step.is_local = !next.accesses();
    if (next.accesses()) {
      step.location = static_cast<std::uint8_t>(next.location);
      (next.writes() ? step.writes : step.reads).set(next.location);
    }
    steps.push_back(step);
  }
  return steps;
}

void ScModel::access(State& state, std::size_t thread, const Instruction& instruction) const {
  std::uint64_t& memory = state.memory[instruction.location];
  const std::uint64_t old = memory;
  const std::uint64_t given = value(state, thread, instruction.value);
  if (instruction.kind == Kind::kStore) {
    memory = given;
  } else if (instruction.kind == Kind::kUpdate) {
    memory = compute(instruction.operation, old, given);
  } else if (instruction.kind == Kind::kCompareExchange &&
             old == value(state, thread, instruction.second)) {
    memory = given;
  }
  if (instruction.reads() && instruction.target) {
    state.registers[first_[thread] + *instruction.target] = old;
  }
}

ScModel::State ScModel::apply(State state, const Transition& step) const {
  const std::size_t thread = step.thread;
  const Instruction& next = next_of(state, thread);
  if (step.rule == kReach) {
    const std::uint64_t number = next.number ? value(state, thread, *next.number) : 0;
    state.reached[{thread, state.next[thread]}] = number;
    return state;
  }
  ++state.next[thread];
  const std::uint64_t left = value(state, thread, next.value);
  const std::uint64_t right = value(state, thread, next.second);
  if (next.accesses()) {
    access(state, thread, next);
  } else if (next.kind == Kind::kCompute) {
    state.registers[first_[thread] + *next.target] = compute(next.operation, left, right);
  } else if (next.kind == Kind::kJump && compare(next.comparison, left, right)) {
    state.next[thread] = next.destination;
  }
  return state;
}

void ScModel::encode(const State& state, std::size_t thread, StateBytes& bytes) const {
  bytes.add(state.next[thread]);
  for (std::size_t reg = first_[thread]; reg < first_[thread + 1]; ++reg) {
    bytes.add(state.registers[reg]);
  }
  encode_reached(state.reached, thread, bytes);
}

void ScModel::encode_rest(const State& state, StateBytes& bytes) {
  for (const std::uint64_t each : state.memory) {
    bytes.add(each);
  }
}

bool ScModel::is_final(const State& state) const {
  for (std::size_t i = 0; i < state.next.size(); ++i) {
    if (state.next[i] < test_.program.threads[i].instructions.size()) {
      return false;
    }
  }
  return true;
}

std::string ScModel::describe(const State& before, const Transition& step,
                              const State& after) const {
  const Instruction& next = next_of(before, step.thread);
  if (!next.accesses()) {
    return "";
  }
  std::string text =
      fmt::format("{} {}", test_.threads[step.thread], instruction_text(test_, step.thread, next));
  if (next.reads() && next.target) {
    text +=
        fmt::format("   {}={}", test_.registers[step.thread][*next.target],
                    static_cast<std::int64_t>(after.registers[first_[step.thread] + *next.target]));
  }
  return text;
}

}  // namespace barracuda::memory_model
