#include "ptx/analysis/reached_uses.h"

#include <cstdint>
#include <vector>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/register_uses.h"

namespace barracuda::ptx {
namespace {

struct Touch {
  bool reads = false, overwrites = false;
};

Touch touch_of(const Instruction& instruction, const Effect& effect, std::string_view name) {
  const bool only_writes = only_writes_first(instruction, effect);
  Touch touch{.reads = instruction.predicate == name};
  for (std::size_t n = 0; n < instruction.operands.size(); ++n) {
    const bool is_result = n == 0 && only_writes;
    visit_registers(instruction.operands[n], [&](const Operand& named) {
      if (named.name == name) {
        touch.reads = touch.reads || !is_result;
        touch.overwrites = touch.overwrites ||
                           (is_result && named.component.empty() && instruction.predicate.empty());
      }
    });
  }
  return touch;
}

}  // namespace

ReachedUses reached_uses(const Program& program, const ControlFlow& flow, std::string_view name,
                         std::size_t definition) {
  ReachedUses reached;
  std::vector<std::uint32_t> waiting;
  // From a statement on to the end of its block, and further if nothing overwrites it there.
  const auto go = [&](std::size_t begin, std::uint32_t block) {
    for (std::size_t i = begin; i < flow.blocks[block].end; ++i) {
      const Statement& statement = program.module.statements[i];
      if (statement.kind != StatementKind::kInstruction) {
        continue;
      }
      const Touch touch = touch_of(statement.instruction, program.effects[i], name);
      if (touch.reads) {
        reached.insert(i);
      }
      if (touch.overwrites) {
        return;
      }
    }
    const auto& successors = flow.blocks[block].successors;
    waiting.insert(waiting.end(), successors.begin(), successors.end());
  };
  std::vector<bool> seen(flow.blocks.size());
  go(definition + 1, flow.block_of(definition));
  while (!waiting.empty()) {
    const std::uint32_t next = waiting.back();
    waiting.pop_back();
    if (!seen[next]) {
      seen[next] = true;
      go(flow.blocks[next].begin, next);
    }
  }
  return reached;
}

}  // namespace barracuda::ptx
