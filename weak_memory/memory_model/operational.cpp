#include "weak_memory/memory_model/operational.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "weak_memory/memory_model/device_model.h"
#include "weak_memory/memory_model/explorer.h"
#include "weak_memory/memory_model/litmus_text.h"
#include "weak_memory/memory_model/reached_barriers.h"
#include "weak_memory/memory_model/sc_model.h"
#include "weak_memory/memory_model/shortest.h"
#include "weak_memory/memory_model/strong_model.h"
#include "weak_memory/memory_model/weak_model.h"

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

// The thesis has plain loads and stores, and two fences.
bool is_in_thesis(const Instruction& instruction) {
  if (instruction.kind == Kind::kCompute || instruction.kind == Kind::kJump) {
    return true;
  }
  if (instruction.kind == Kind::kFence) {
    return instruction.scope != Scope::kCluster &&
           (instruction.order == Order::kAcqRel || instruction.order == Order::kSc);
  }
  return (instruction.kind == Kind::kLoad || instruction.kind == Kind::kStore) &&
         (instruction.order == Order::kWeak || instruction.order == Order::kRelaxed) &&
         instruction.proxy == Proxy::kGeneric;
}

bool is_in_device(const Instruction& instruction) {
  if (instruction.kind == Kind::kBarrier) {
    return !instruction.number || instruction.quorum;
  }
  return instruction.kind == Kind::kProxyFence || instruction.proxy == Proxy::kGeneric;
}

bool is_in_model(const LitmusTest& test, StateModel model, const Instruction& instruction) {
  if (model == StateModel::kSc) {
    return true;
  }
  return (model == StateModel::kDevice ? is_in_device(instruction) : is_in_thesis(instruction)) &&
         !test.addresses[instruction.address].is_alias;
}

// The finals in which `thread` and `other`, which are alike, have changed places.
void add_exchanged(const LitmusTest& test, std::size_t thread, std::size_t other,
                   std::map<Final, Witness>& finals) {
  const auto first = first_registers(test.program);
  std::map<Final, Witness> more;
  for (const auto& [final, witness] : finals) {
    Final exchanged = final;
    std::swap_ranges(exchanged.registers.begin() + static_cast<std::ptrdiff_t>(first[thread]),
                     exchanged.registers.begin() + static_cast<std::ptrdiff_t>(first[thread + 1]),
                     exchanged.registers.begin() + static_cast<std::ptrdiff_t>(first[other]));
    if (exchanged != final) {
      Witness made = witness;
      made.lines.insert(made.lines.begin(), fmt::format("with {} and {} in each other's place:",
                                                        test.threads[thread], test.threads[other]));
      more.emplace(std::move(exchanged), std::move(made));
    }
  }
  finals.merge(more);
}

void add_exchanged(const LitmusTest& test, const Groups& alike, std::map<Final, Witness>& finals) {
  // Exchanges of neighbours make all orders, one after the other.
  for (std::size_t before = 0; before != finals.size();) {
    before = finals.size();
    for (const auto& group : alike) {
      for (std::size_t i = 0; i + 1 < group.size(); ++i) {
        add_exchanged(test, group[i], group[i + 1], finals);
      }
    }
  }
}

template <typename Model, typename ViewOf>
Exploration explore_with(const Model& model, const LitmusTest& test, ExploreOptions options,
                         const ViewOf& view_of) {
  typename Explorer<Model>::IsGood is_good;
  if (test.always) {
    is_good = [&test, &view_of, first = first_registers(test.program)](const auto& state) {
      return holds(*test.always, first, view_of(state));
    };
  }
  // What a thread does may put others' steps off there.
  options.reduce = options.reduce && !options.lockstep;
  // What must hold in every state may be asked of one of them only.
  const Groups alike = options.symmetry && !is_good ? identical_threads(test.program) : Groups();
  const std::size_t threads = test.program.threads.size();
  Exploration found = options.shortest && !is_good
                          ? ShortestWays<Model>(model, options, threads, alike).run()
                          : Explorer<Model>(model, options, threads, alike, is_good).run();
  add_exchanged(test, alike, found.finals);
  return found;
}

}  // namespace

std::optional<Diagnostic> not_in_model(const LitmusTest& test, StateModel model) {
  for (std::size_t i = 0; i < test.threads.size(); ++i) {
    const Thread& thread = test.program.threads[i];
    for (std::size_t number = 0; number < thread.instructions.size(); ++number) {
      const Instruction& each = thread.instructions[number];
      if (!is_in_model(test, model, each)) {
        return Diagnostic{.message = "'" + instruction_text(test, i, each) + "'",
                          .line = each.line};
      }
      if (each.kind == Kind::kBarrier && is_in_loop(thread, number)) {
        return Diagnostic{.message = "barriers in loops", .line = each.line};
      }
    }
  }
  const bool has_memory = model == StateModel::kSc || model == StateModel::kDevice;
  if (!has_memory && asks_memory(test)) {
    return Diagnostic{.message = "memory of which a condition could ask, only registers"};
  }
  return std::nullopt;
}

Exploration explore_states(const LitmusTest& test, StateModel model,
                           const ExploreOptions& options) {
  ASSERT(!not_in_model(test, model));
  ASSERT(!options.lockstep || model != StateModel::kDevice);
  switch (model) {
    case StateModel::kSc:
      return explore_with(ScModel(test, options.lockstep), test, options,
                          [](const ScModel::State& state) {
                            return Final{.registers = state.registers, .memory = state.memory};
                          });
    case StateModel::kWeak:
      return explore_with(WeakModel(test, options.lockstep), test, options,
                          [](const WeakModel::State& state) {
                            return Final{.registers = state.issue.registers, .memory = {}};
                          });
    case StateModel::kStrong:
      return explore_with(StrongModel(test, options.lockstep), test, options,
                          [](const StrongModel::State& state) {
                            return Final{.registers = state.issue.registers, .memory = {}};
                          });
    case StateModel::kDevice:
      return explore_with(DeviceModel(test), test, options, [](const DeviceModel::State& state) {
        return Final{.registers = state.registers, .memory = state.memory};
      });
  }
  ASSERT(false);
}

}  // namespace barracuda::memory_model
