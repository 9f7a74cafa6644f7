#include "ptx/analysis/strides.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "ptx/analysis/constants.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint64_t kAnything = 1;
// More is no size of an element.
constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
// A counter of a loop depends on itself.
constexpr int kMostRounds = 8;

std::uint64_t lowest_bit(std::uint64_t value) {
  return value & (~value + 1);
}

std::uint64_t absolute(const Operand& number) {
  const auto value = static_cast<std::int64_t>(number.bits);
  return value < 0 ? ~number.bits + 1 : number.bits;
}

std::uint64_t product(std::uint64_t left, std::uint64_t right) {
  return left > kMost || right > kMost ? kAnything : left * right;
}

}  // namespace

Strides::Strides(const Module& module, const Function& function) {
  bool changes = true;
  int round = 0;
  for (; changes && round < kMostRounds; ++round) {
    changes = false;
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      if (module.statements[i].kind == StatementKind::kInstruction) {
        changes = follow(module.statements[i].instruction) || changes;
      }
    }
  }
  if (changes) {
    registers_.clear();
  }
}

bool Strides::follow(const Instruction& instruction) {
  // A store has its address first, and writes no register of it.
  if (instruction.operands.empty() || instruction.operands[0].kind == Operand::Kind::kAddress) {
    return false;
  }
  bool changes = false;
  const std::uint64_t result = result_of(instruction);
  visit_registers(instruction.operands[0], [&](const Operand& written) {
    const auto [known, is_new] = registers_.try_emplace(written.name, result);
    const std::uint64_t united = std::gcd(known->second, result);
    changes = changes || is_new || united != known->second;
    known->second = united;
  });
  return changes;
}

std::uint64_t Strides::result_of(const Instruction& instruction) const {
  using enum Opcode;
  const auto& operands = instruction.operands;
  const std::size_t count = operands.size();
  const auto at = [&](std::size_t operand) { return of(operands[operand]); };
  const auto is_one_of = [&](std::initializer_list<Opcode> opcodes) {
    return std::ranges::find(opcodes, instruction.opcode) != opcodes.end();
  };
  const bool is_low = !instruction.has(Modifier::kHi);
  if (is_one_of({kMov, kCvt, kCvta}) && count == 2) {
    return at(1);
  }
  if ((is_one_of({kAdd, kSub, kMax, kMin}) && count == 3) ||
      (instruction.opcode == kSelp && count == 4)) {
    return std::gcd(at(1), at(2));
  }
  if (is_one_of({kAnd, kOr, kXor}) && count == 3) {
    return lowest_bit(std::gcd(at(1), at(2)));
  }
  if (instruction.opcode == kShl && count == 3 && operands[2].kind == Operand::Kind::kInteger &&
      operands[2].bits < 32) {
    return product(at(1), std::uint64_t{1} << operands[2].bits);
  }
  if (instruction.opcode == kMul && is_low && count == 3) {
    return product(at(1), at(2));
  }
  if (instruction.opcode == kMad && is_low && count == 4) {
    return std::gcd(product(at(1), at(2)), at(3));
  }
  return kAnything;
}

std::uint64_t Strides::of(const Operand& address) const {
  using enum Operand::Kind;
  if (address.kind == kAddress && !address.elements.empty()) {
    return of(address.elements.front());
  }
  if (address.kind == kSymbol && address.elements.empty()) {
    return 0;
  }
  if (address.kind == kInteger) {
    return absolute(address);
  }
  const auto known = address.kind == kRegister ? registers_.find(address.name) : registers_.end();
  return known == registers_.end() ? kAnything : known->second;
}

}  // namespace barracuda::ptx
