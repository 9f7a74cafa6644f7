#include "ptx/analysis/spins.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/loops.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {
namespace {

// A load that may be of the word that a loop waits for.
using IsLoad = bool (*)(const Statement& statement, const Effect& effect);

bool may_be_awaited(const Statement& statement, const Effect& effect) {
  return statement.kind == StatementKind::kInstruction &&
         effect.opcode_class == OpcodeClass::kLoad && is_shared_access(effect) &&
         effect.order != wire::MemoryOrder::kWeak && !statement.instruction.operands.empty();
}

bool may_be_awaited_in_shared(const Statement& statement, const Effect& effect) {
  return may_be_awaited(statement, effect) && effect.space != StateSpace::kGlobal;
}

// The places that a block stores to. A thread that reads one of them is not waiting: it would
// overwrite what it waits for. (A histogram whose lanes tag what they write, and try again.)
class StoredPlaces {
 public:
  StoredPlaces(const Program& program, const BasicBlock& block) {
    for (std::size_t i = block.begin; i < block.end; ++i) {
      if (program.effects[i].opcode_class == OpcodeClass::kStore) {
        if (const auto place = place_of(program.module.statements[i], program.effects[i])) {
          places_.insert(*place);
        }
      }
    }
    for (std::size_t i = block.begin; i < block.end && !places_.empty(); ++i) {
      drop_where_written(program.module.statements[i], program.effects[i]);
    }
  }

  [[nodiscard]] bool has(const Statement& statement, const Effect& effect) const {
    const auto place = place_of(statement, effect);
    return place && places_.contains(*place);
  }

 private:
  using Place = std::pair<std::string_view, std::int64_t>;  // base and offset

  static std::optional<Place> place_of(const Statement& statement, const Effect& effect) {
    const Operand* const address = address_of(statement, effect);
    if (address == nullptr || address->elements.empty()) {
      return std::nullopt;
    }
    const Operand& base = address->elements.front();
    return Place(base.name, base.offset + address->offset);
  }

  // A base that changes names several places.
  void drop_where_written(const Statement& statement, const Effect& effect) {
    if (statement.kind != StatementKind::kInstruction || statement.instruction.operands.empty() ||
        effect.opcode_class == OpcodeClass::kStore) {
      return;
    }
    visit_registers(statement.instruction.operands[0], [&](const Operand& written) {
      erase_if(places_, [&](const Place& place) { return place.first == written.name; });
    });
  }

  boost::unordered_flat_set<Place, boost::hash<Place>> places_;
};

// The branch at the end of the block is decided by what a load in it found.
bool branches_by_load(const Program& program, const BasicBlock& block, IsLoad is_load) {
  boost::unordered_flat_set<std::string_view> depends;
  const StoredPlaces stored(program, block);
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind != StatementKind::kInstruction) {
      continue;
    }
    const Instruction& instruction = statement.instruction;
    const Effect& effect = program.effects[i];
    if (effect.opcode_class == OpcodeClass::kBranch) {
      return depends.contains(instruction.predicate);
    }
    if (instruction.operands.empty()) {
      continue;
    }
    bool is_from_load = is_load(statement, effect) && !stored.has(statement, effect);
    for (std::size_t operand = 1; operand < instruction.operands.size(); ++operand) {
      visit_registers(instruction.operands[operand], [&](const Operand& name) {
        is_from_load = is_from_load || depends.contains(name.name);
      });
    }
    visit_registers(instruction.operands[0], [&](const Operand& name) {
      if (is_from_load) {
        depends.insert(name.name);
      } else if (instruction.predicate.empty()) {
        depends.erase(name.name);
      }
    });
  }
  return false;
}

// A load in a block of the loop decides whether it goes on.
bool awaits(const Program& program, const ControlFlow& flow, const Loop& loop, IsLoad is_load) {
  for (std::uint32_t block = 0; block < flow.blocks.size(); ++block) {
    const auto leaves = [&](std::uint32_t successor) { return !loop.contains[successor]; };
    if (loop.contains[block] && std::ranges::any_of(flow.blocks[block].successors, leaves) &&
        branches_by_load(program, flow.blocks[block], is_load)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Spins find_spins(Program& program, std::uint32_t index) {
  const Function& function = program.function(index);
  bool may_spin = false;
  for (std::size_t i = function.body_begin; i < function.body_end && !may_spin; ++i) {
    may_spin = may_be_awaited(program.module.statements[i], program.effects[i]);
  }
  if (!may_spin) {
    return {};
  }
  const auto found = program.flow_of(index);
  if (!found) {
    return {};  // another pass says what is wrong with it
  }
  const ControlFlow& flow = **found;
  const std::vector<Loop> loops = find_ways_round(flow);
  const auto any_awaits = [&](IsLoad is_load) {
    return std::ranges::any_of(
        loops, [&](const Loop& loop) { return awaits(program, flow, loop, is_load); });
  };
  return {.there_are = any_awaits(may_be_awaited),
          .on_shared = any_awaits(may_be_awaited_in_shared)};
}

}  // namespace barracuda::ptx
