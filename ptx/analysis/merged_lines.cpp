#include "ptx/analysis/merged_lines.h"

#include <algorithm>
#include <string_view>

#include "ptx/analysis/constants.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

bool names(const Operand& operand, std::string_view name) {
  bool found = false;
  visit_registers(operand, [&](const Operand& named) { found = found || named.name == name; });
  return found;
}

// It reads the register. What an instruction computes is its first operand.
bool reads(const Instruction& instruction, const Effect& effect, std::string_view name) {
  const bool first_is_read =
      effect.opcode_class == OpcodeClass::kStore || effect.opcode_class == OpcodeClass::kReduction;
  for (std::size_t n = first_is_read ? 0 : 1; n < instruction.operands.size(); ++n) {
    if (names(instruction.operands[n], name)) {
      return true;
    }
  }
  return instruction.predicate == name;
}

}  // namespace

MergedLines::MergedLines(const Program& program, const Function& function)
    : program_(program), function_(function) {
  const auto& statements = program.module.statements;
  bool has_zero = false;
  for (std::size_t i = function.body_begin; i < function.body_end && !has_zero; ++i) {
    has_zero = statements[i].kind == StatementKind::kLocation && statements[i].location.line == 0;
  }
  if (!has_zero) {
    return;
  }
  std::uint32_t line = 0;
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    if (statements[i].kind == StatementKind::kLocation) {
      line = statements[i].location.line;
      declared_at_ = declared_at_ == 0 ? line : declared_at_;
    }
    lines_.push_back(line);
  }
}

bool MergedLines::has_line(std::size_t statement) const {
  return program_.module.statements[statement].kind == StatementKind::kInstruction &&
         lines_[statement - function_.body_begin] != 0;
}

std::optional<std::size_t> MergedLines::first_use(std::size_t load) const {
  const auto& statements = program_.module.statements;
  std::vector<std::string_view> loaded;
  visit_registers(statements[load].instruction.operands.front(),
                  [&](const Operand& named) { loaded.push_back(named.name); });
  for (std::size_t i = load + 1; i < function_.body_end; ++i) {
    if (has_line(i) && std::ranges::any_of(loaded, [&](std::string_view name) {
          return reads(statements[i].instruction, program_.effects[i], name);
        })) {
      return i;
    }
  }
  return std::nullopt;
}

// A jump forward to the label that the basic block of `statement` begins with.
std::optional<std::size_t> MergedLines::jump_here(std::size_t statement) const {
  const auto& statements = program_.module.statements;
  const auto is_jump = [&](std::size_t i) {
    return statements[i].kind == StatementKind::kInstruction &&
           statements[i].instruction.opcode == Opcode::kBra;
  };
  std::size_t start = statement;
  while (start > function_.body_begin && statements[start].kind != StatementKind::kLabel &&
         !is_jump(start)) {
    --start;
  }
  if (statements[start].kind != StatementKind::kLabel) {
    return std::nullopt;
  }
  for (std::size_t i = start; i > function_.body_begin; --i) {
    const Instruction& jump = statements[i - 1].instruction;
    if (is_jump(i - 1) && jump.predicate.empty() && has_line(i - 1) && !jump.operands.empty() &&
        jump.operands.front().name == statements[start].label) {
      return i - 1;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> MergedLines::before(std::size_t statement) const {
  for (std::size_t i = statement; i > function_.body_begin; --i) {
    if (has_line(i - 1) && lines_[i - 1 - function_.body_begin] != declared_at_) {
      return i - 1;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> MergedLines::behind(std::size_t statement) const {
  for (std::size_t i = statement + 1; i < function_.body_end; ++i) {
    if (has_line(i)) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> MergedLines::stand_in(std::size_t statement) const {
  if (lines_.empty() || has_line(statement) ||
      program_.module.statements[statement].kind != StatementKind::kInstruction) {
    return std::nullopt;
  }
  std::optional<std::size_t> found;
  if (program_.effects[statement].opcode_class == OpcodeClass::kLoad) {
    found = first_use(statement);
  }
  if (!found) {
    found = jump_here(statement);
  }
  if (!found) {
    found = before(statement);
  }
  return found ? found : behind(statement);
}

}  // namespace barracuda::ptx
