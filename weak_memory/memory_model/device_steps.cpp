// Which steps the device's weak memory may take, and which of them make no difference to others.
#include <algorithm>

#include "weak_memory/memory_model/device_model.h"

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

}  // namespace

Transition DeviceModel::step_of(Rule rule, std::size_t thread, std::size_t location) {
  return {.rule = rule,
          .thread = static_cast<std::uint8_t>(thread),
          .location = static_cast<std::uint8_t>(location)};
}

// A late load takes place before anything that PTX orders it with.
bool DeviceModel::awaits_late_load(const State& state, std::size_t thread,
                                   const Instruction& next) const {
  const bool passes =
      next.kind == Kind::kCompute || next.kind == Kind::kLoad || next.kind == Kind::kStore;
  if (!passes || releases(next) || acquires(next)) {
    return !state.threads[thread].late.empty();
  }
  return std::ranges::any_of(state.threads[thread].late, [&](std::uint32_t number) {
    const Instruction& load = instruction_of(thread, number);
    const bool are_plain =
        next.kind == Kind::kLoad && next.order == Order::kWeak && load.order == Order::kWeak;
    return next.uses(*load.target) ||
           (next.accesses() && next.location == load.location && !are_plain);
  });
}

bool DeviceModel::may_execute(const State& state, std::size_t thread) const {
  const DeviceThread& own = state.threads[thread];
  const Instruction& next = instruction_of(thread, own.next);
  if (awaits_late_load(state, thread, next)) {
    return false;
  }
  if (next.kind == Kind::kBarrier) {
    const std::uint64_t quorum = next.quorum ? value(state, thread, *next.quorum) : 0;
    return state.reached.contains({thread, own.next})
               ? is_open(test_.program, state.reached, thread, own.next, quorum)
               : memory_.is_drained(state, thread, Scope::kCta);
  }
  const Scope scope = next.kind == Kind::kProxyFence ? Scope::kSys : next.scope;
  if (releases(next) && !memory_.is_drained(state, thread, scope)) {
    return false;
  }
  return !next.updates() || (!waits_in(own.buffer, next.location) &&
                             !waits_in(state.blocks[memory_.block_of(thread)], next.location));
}

std::vector<Transition> DeviceModel::enabled(const State& state) const {
  std::vector<Transition> steps;
  for (std::size_t thread = 0; thread < state.threads.size(); ++thread) {
    add_instruction(state, thread, steps);
    for (const std::uint32_t number : state.threads[thread].late) {
      const Instruction& load = instruction_of(thread, number);
      steps.push_back(step_of(kTakePlace, thread, load.location));
      steps.back().target = static_cast<std::uint8_t>(*load.target);
      steps.back().other = kNow;
      steps.back().reads.set(memory_.cell_of(memory_.block_of(thread), load.location));
      steps.back().is_local = !others_may_write(state, thread, load.location);
    }
    add_drains(state, thread, steps);
  }
  for (std::size_t block = 0; block < state.blocks.size(); ++block) {
    add_commits(state, block, steps);
  }
  return steps;
}

void DeviceModel::touch_cells(std::size_t thread, const Instruction& next, Transition& step) const {
  if (releases(next) || acquires(next)) {
    step.reads |= memory_.cells_of_block(memory_.block_of(thread));
  }
  if (next.reads()) {
    step.reads.set(memory_.cell_of(memory_.block_of(thread), next.location));
  }
  if (next.updates()) {
    step.writes |= memory_.cells_of_all(next.location);
  }
}

// A store only appends, a fence only bounds what its thread may read: as soon as they can they may,
// for what others do meanwhile the thread may see or not.
void DeviceModel::add_instruction(const State& state, std::size_t thread,
                                  std::vector<Transition>& steps) const {
  const DeviceThread& own = state.threads[thread];
  if (own.next >= test_.program.threads[thread].instructions.size() ||
      !may_execute(state, thread)) {
    return;
  }
  const Instruction& next = instruction_of(thread, own.next);
  if (next.kind == Kind::kLoad && !acquires(next)) {
    add_load(state, thread, steps);
    return;
  }
  const bool is_arrival =
      next.kind == Kind::kBarrier && !state.reached.contains({thread, own.next});
  Transition step = step_of(is_arrival ? kReach : kExecute, thread, next.location);
  step.is_local = !next.reads();
  touch_cells(thread, next, step);
  steps.push_back(step);
}

void DeviceModel::add_load(const State& state, std::size_t thread,
                           std::vector<Transition>& steps) const {
  const DeviceThread& own = state.threads[thread];
  const Instruction& load = instruction_of(thread, own.next);
  Transition step = step_of(kLoad, thread, load.location);
  touch_cells(thread, load, step);
  step.other = kNow;
  const bool is_fixed = !others_may_write(state, thread, load.location);
  // The thread's own store is the latest for it; it reads nothing older.
  const std::size_t older =
      waits_in(own.buffer, load.location) ? 0 : own.past[load.location].size();
  step.is_local = is_fixed && older == 0;
  steps.push_back(step);
  for (std::size_t i = 0; i < older; ++i) {
    step.other = static_cast<std::uint8_t>(i);
    steps.push_back(step);
  }
  if (!is_fixed && outlook_.may_be_late(thread, own.next)) {
    steps.push_back(step_of(kPostpone, thread, load.location));
  }
}

void DeviceModel::add_drains(const State& state, std::size_t thread,
                             std::vector<Transition>& steps) const {
  const Locations waiting = locations_of(state.threads[thread].buffer);
  for (std::size_t location = 0; location < test_.program.locations; ++location) {
    if ((waiting & bit_of(location)) == 0) {
      continue;
    }
    Transition step = step_of(kPublish, thread, location);
    if (memory_.skips_block(thread, location)) {
      step.writes = memory_.cells_of_all(location);
    } else {
      step.writes.set(memory_.cell_of(memory_.block_of(thread), location));
    }
    step.is_local = is_publishing_local(state, thread, location);
    steps.push_back(step);
  }
}

void DeviceModel::add_commits(const State& state, std::size_t block,
                              std::vector<Transition>& steps) const {
  const Locations waiting = locations_of(state.blocks[block]);
  for (std::size_t location = 0; location < test_.program.locations; ++location) {
    if ((waiting & bit_of(location)) != 0) {
      Transition step = step_of(kCommit, memory_.thread_of(block), location);
      step.writes = memory_.cells_of_all(location);
      step.is_local = is_commit_local(state, block, location);
      steps.push_back(step);
    }
  }
}

// --- what makes no difference ---

bool DeviceModel::may_read(const State& state, std::size_t thread, std::size_t location) const {
  const DeviceThread& that = state.threads[thread];
  return (outlook_.reads(thread, that.next) & bit_of(location)) != 0 ||
         std::ranges::any_of(that.late, [&](std::uint32_t number) {
           return instruction_of(thread, number).location == location;
         });
}

// What the thread's block sees of the location may change by others.
bool DeviceModel::others_may_write(const State& state, std::size_t thread,
                                   std::size_t location) const {
  for (std::size_t other = 0; other < state.threads.size(); ++other) {
    const DeviceThread& that = state.threads[other];
    if (other != thread && ((outlook_.writes(other, that.next) & bit_of(location)) != 0 ||
                            waits_in(that.buffer, location))) {
      return true;
    }
  }
  for (std::size_t block = 0; block < state.blocks.size(); ++block) {
    if (block != memory_.block_of(thread) && waits_in(state.blocks[block], location)) {
      return true;
    }
  }
  return false;
}

bool DeviceModel::is_publishing_local(const State& state, std::size_t thread,
                                      std::size_t location) const {
  for (std::size_t other = 0; other < state.threads.size(); ++other) {
    if (other != thread && may_read(state, other, location)) {
      return false;
    }
  }
  return (!asks_memory_ && !may_read(state, thread, location)) ||
         (!others_may_write(state, thread, location) &&
          !waits_in(state.blocks[memory_.block_of(thread)], location));
}

bool DeviceModel::is_commit_local(const State& state, std::size_t block,
                                  std::size_t location) const {
  bool may_be_read_within = false;
  for (std::size_t thread = 0; thread < state.threads.size(); ++thread) {
    if (may_read(state, thread, location)) {
      if (memory_.block_of(thread) != block) {
        return false;
      }
      may_be_read_within = true;
    }
  }
  return (!asks_memory_ && !may_be_read_within) ||
         !others_may_write(state, memory_.thread_of(block), location);
}

}  // namespace barracuda::memory_model
