#include "weak_memory/memory_model/device_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.h"
#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

}  // namespace

DeviceModel::DeviceModel(const LitmusTest& test)
    : test_(test),
      outlook_(test.program),
      memory_(test.program),
      first_(first_registers(test.program)),
      asks_memory_(asks_memory(test)),
      no_memory_(test.program.locations) {}

DeviceModel::State DeviceModel::initial() const {
  State state{.threads = {},
              .registers = initial_registers(test_.program),
              .blocks = std::vector<StoreBuffer>(memory_.blocks()),
              .memory = {},
              .reached = {}};
  state.threads.resize(test_.program.threads.size());
  for (DeviceThread& thread : state.threads) {
    thread.past.resize(test_.program.locations);
  }
  for (std::size_t i = 0; i < test_.program.locations; ++i) {
    state.memory.push_back(test_.program.location(i).initial);
  }
  return state;
}

std::uint64_t DeviceModel::value(const State& state, std::size_t thread,
                                 const Operand& operand) const {
  return operand.read ? state.registers[first_[thread] + *operand.read] : operand.constant;
}

// --- what happens ---

void DeviceModel::access_memory(State& state, std::size_t thread, const Instruction& next) const {
  const std::uint64_t old = state.memory[next.location];
  const std::uint64_t given = value(state, thread, next.value);
  if (next.kind == Kind::kUpdate) {
    memory_.write(state, next.location, compute(next.operation, old, given));
  } else if (old == value(state, thread, next.second)) {
    memory_.write(state, next.location, given);
  }
  state.threads[thread].past[next.location].clear();
  if (next.target) {
    state.registers[first_[thread] + *next.target] = old;
  }
}

// `choice`: of the past values, or kNow. Plain loads of one location may go back in time.
void DeviceModel::take_place(State& state, std::size_t thread, const Instruction& load,
                             std::size_t choice) const {
  auto& past = state.threads[thread].past[load.location];
  std::uint64_t& target = state.registers[first_[thread] + *load.target];
  target = choice == kNow ? memory_.seen(state, thread, load.location) : past[choice];
  if (load.order != Order::kWeak) {
    const std::size_t gone = choice == kNow ? past.size() : choice;
    past.erase(past.begin(), past.begin() + static_cast<std::ptrdiff_t>(gone));
  }
}

void DeviceModel::execute(State& state, std::size_t thread) const {
  DeviceThread& own = state.threads[thread];
  const Instruction& next = instruction_of(thread, own.next++);
  const std::uint64_t left = value(state, thread, next.value);
  const std::uint64_t right = value(state, thread, next.second);
  if (next.kind == Kind::kStore) {
    own.buffer.push_back({.location = next.location, .value = left});
    own.past[next.location].clear();
  } else if (next.updates()) {
    access_memory(state, thread, next);
  } else if (next.kind == Kind::kLoad) {
    take_place(state, thread, next, kNow);
  } else if (next.kind == Kind::kCompute) {
    state.registers[first_[thread] + *next.target] = compute(next.operation, left, right);
  } else if (next.kind == Kind::kJump && compare(next.comparison, left, right)) {
    own.next = next.destination;
  }
  if (acquires(next)) {
    for (auto& past : own.past) {
      past.clear();
    }
  }
}

void DeviceModel::forget_unused(State& state) const {
  for (std::size_t thread = 0; thread < state.threads.size(); ++thread) {
    DeviceThread& that = state.threads[thread];
    const Locations used = outlook_.old_reads(thread, that.next);
    for (std::size_t location = 0; location < that.past.size(); ++location) {
      if ((used & bit_of(location)) == 0) {
        that.past[location].clear();
      }
    }
  }
}

DeviceModel::State DeviceModel::apply(State state, const Transition& step) const {
  const std::size_t thread = step.thread;
  DeviceThread& own = state.threads[thread];
  switch (static_cast<Rule>(step.rule)) {
    case kExecute:
      execute(state, thread);
      break;
    case kLoad:
      take_place(state, thread, instruction_of(thread, own.next++), step.other);
      break;
    case kPostpone:
      own.late.insert(std::ranges::upper_bound(own.late, own.next), own.next);
      ++own.next;
      break;
    case kTakePlace: {
      const auto late = std::ranges::find_if(own.late, [&](std::uint32_t number) {
        return instruction_of(thread, number).target == step.target;
      });
      const Instruction& load = instruction_of(thread, *late);
      own.late.erase(late);
      take_place(state, thread, load, kNow);
      break;
    }
    case kReach: {
      const Instruction& barrier = instruction_of(thread, own.next);
      state.reached[{thread, own.next}] =
          barrier.number ? value(state, thread, *barrier.number) : 0;
      break;
    }
    case kPublish:
      memory_.publish(state, thread, step.location);
      break;
    case kCommit:
      memory_.commit(state, memory_.block_of(thread), step.location);
      break;
  }
  forget_unused(state);
  return state;
}

// --- states ---

void DeviceModel::encode(const State& state, std::size_t thread, StateBytes& bytes) const {
  const DeviceThread& own = state.threads[thread];
  bytes.add(own.next);
  for (std::size_t reg = first_[thread]; reg < first_[thread + 1]; ++reg) {
    bytes.add(state.registers[reg]);
  }
  encode_buffer(own.buffer, bytes);
  bytes.add(own.late.size());
  for (const std::uint32_t load : own.late) {
    bytes.add(load);
  }
  for (const auto& past : own.past) {
    bytes.add(past.size());
    for (const std::uint64_t each : past) {
      bytes.add(each);
    }
  }
  encode_reached(state.reached, thread, bytes);
}

void DeviceModel::encode_rest(const State& state, StateBytes& bytes) {
  for (const StoreBuffer& block : state.blocks) {
    encode_buffer(block, bytes);
  }
  for (const std::uint64_t each : state.memory) {
    bytes.add(each);
  }
}

bool DeviceModel::is_final(const State& state) const {
  for (std::size_t i = 0; i < state.threads.size(); ++i) {
    const DeviceThread& thread = state.threads[i];
    if (thread.next < test_.program.threads[i].instructions.size() || !thread.late.empty() ||
        (asks_memory_ && !thread.buffer.empty())) {
      return false;
    }
  }
  return !asks_memory_ || std::ranges::all_of(state.blocks, &StoreBuffer::empty);
}

std::string DeviceModel::describe(const State& before, const Transition& step,
                                  const State& after) const {
  const std::string& thread = test_.threads[step.thread];
  const DeviceThread& own = before.threads[step.thread];
  const std::string& name = location_name(test_, step.location);
  const auto text = [&](std::uint32_t number) {
    return thread + ' ' + instruction_text(test_, step.thread, instruction_of(step.thread, number));
  };
  const auto read = [&](std::uint32_t target) {
    return fmt::format("   {}={}", test_.registers[step.thread][target],
                       static_cast<std::int64_t>(after.registers[first_[step.thread] + target]));
  };
  switch (static_cast<Rule>(step.rule)) {
    case kReach:
      return "";
    case kExecute:
    case kLoad: {
      const Instruction& next = instruction_of(step.thread, own.next);
      if (next.kind == Kind::kCompute || next.kind == Kind::kJump) {
        return "";
      }
      return text(own.next) + (next.kind == Kind::kStore ? "   waits in its buffer" : "") +
             (next.reads() && next.target ? read(*next.target) : "") +
             (step.rule == kLoad && step.other != kNow ? "   stale" : "");
    }
    case kPostpone:
      return text(own.next) + "   is late";
    case kTakePlace:
      return fmt::format("{} its late load of {} takes place{}", thread, name, read(step.target));
    case kPublish:
      return fmt::format(
          "{} {}={} is {}", thread, name,
          std::ranges::find(own.buffer, step.location, &BufferedStore::location)->value,
          memory_.skips_block(step.thread, step.location) ? "in memory" : "seen by its block");
    case kCommit:
      return fmt::format("{} {}={} of its block is in memory", thread, name,
                         after.memory[step.location]);
  }
  ASSERT(false);
}

}  // namespace barracuda::memory_model
