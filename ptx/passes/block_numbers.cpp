#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::block_numbers {
namespace {

constexpr std::string_view kCtaid = "%ctaid";
constexpr std::string_view kCoordinates = "xyz";

bool names_number(const Operand& operand) {
  return (operand.kind == Operand::Kind::kSpecial && operand.name == kCtaid) ||
         std::ranges::any_of(operand.elements, names_number);
}

// A number that does not come from one coordinate of %ctaid.
bool names_other_number(const Operand& operand) {
  return (operand.kind == Operand::Kind::kSpecial &&
          (operand.name == "%clusterid" ||
           (operand.name == kCtaid && operand.component.size() != 1))) ||
         std::ranges::any_of(operand.elements, names_other_number);
}

// The instruction in a block of its own, with registers of ours in the place of special ones.
std::string rewrite(std::string_view instruction, HookNames& called) {
  std::string text(instruction), before;
  for (std::size_t c = 0; c < kCoordinates.size(); ++c) {
    const std::string special = fmt::format("{}.{}", kCtaid, kCoordinates[c]);
    const std::string ours = fmt::format("%__barracuda_ctaid_{}", kCoordinates[c]);
    std::size_t at = text.find(special);
    if (at == std::string::npos) {
      continue;
    }
    before += fmt::format(".reg .b32 {};\n", ours) +
              write_call(called, {"ctaid"}, {{32, fmt::to_string(c)}},
                         ".param .b32 __barracuda_result;\n",
                         fmt::format("ld.param.b32 {}, [__barracuda_result];\n", ours));
    for (; at != std::string::npos; at = text.find(special, at + ours.size())) {
      text.replace(at, special.size(), ours);
    }
  }
  return fmt::format("{{\n{}{}\n}}", before, text);
}

// Whether every block number that the function reads can be another one.
bool rewrite(Program& program, const Function& function) {
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    Statement& statement = program.module.statements[i];
    const auto& operands = statement.instruction.operands;
    if (std::ranges::any_of(operands, names_other_number)) {
      return false;
    }
    if (std::ranges::any_of(operands, names_number)) {
      std::string text = rewrite(statement.text, program.called_hooks);
      statement = Statement{};
      statement.text = program.module.own(std::move(text));
    }
  }
  return true;
}

}  // namespace

Expected<void> run(Program& program) {
  if (!program.options.renumbers_blocks) {
    return {};
  }
  std::vector<bool> can_be_other(program.functions.size(), true);
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.function(i).has_body && program.functions[i].is_instrumented) {
      can_be_other[i] = rewrite(program, program.function(i));
    }
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const auto kernel = std::ranges::find(program.kernels, program.function(i).name, &Kernel::name);
    if (kernel != program.kernels.end()) {
      kernel->renumbers_blocks =
          kernel->instrumented &&
          std::ranges::all_of(program.functions[i].reachable,
                              [&](std::uint32_t callee) { return can_be_other[callee]; });
    }
  }
  return {};
}

}  // namespace barracuda::ptx::block_numbers
