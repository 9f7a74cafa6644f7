#include "ptx/analysis/literal_instruction.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ptx/analysis/literal_arithmetic.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint32_t kWarp = 32;

std::uint32_t component(std::string_view name) {
  return name == "y" ? 1 : name == "z" ? 2 : 0;
}

std::uint32_t axis(const Extent& extent, std::uint32_t number) {
  return number == 0 ? extent.x : number == 1 ? extent.y : extent.z;
}

std::uint64_t number_in_block(const LiteralThread& thread, const Extent& block) {
  return (std::uint64_t{thread.thread[2]} * block.y + thread.thread[1]) * block.x +
         thread.thread[0];
}

}  // namespace

Diagnostic LiteralInstruction::wrong(const std::string& message) const {
  const std::size_t last = parts_.module.statements.size() - 1;
  return {.message = message, .line = line_of(parts_, std::min(thread_.statement, last))};
}

Diagnostic LiteralInstruction::unknown() const {
  return wrong(fmt::format("explore does not know '{}' in a kernel", ptx::name_of(instruction())));
}

Expected<std::uint64_t> LiteralInstruction::special(const Operand& operand) const {
  const Extent& block = parts_.launch.block;
  const std::uint32_t number = component(operand.component);
  const std::uint64_t own = number_in_block(thread_, block);
  const std::uint64_t lane = own % kWarp;
  const std::array<std::pair<std::string_view, std::uint64_t>, 12> known = {
      {{"%tid", thread_.thread.at(number)},
       {"%ntid", axis(block, number)},
       {"%ctaid", thread_.block.at(number)},
       {"%nctaid", axis(parts_.launch.grid, number)},
       {"%laneid", lane},
       {"%warpid", own / kWarp},
       {"%nwarpid", (block.volume() + kWarp - 1) / kWarp},
       {"%lanemask_eq", std::uint64_t{1} << lane},
       {"%lanemask_lt", (std::uint64_t{1} << lane) - 1},
       {"%lanemask_le", (std::uint64_t{2} << lane) - 1},
       {"%lanemask_gt", 0xffffffffU & ~((std::uint64_t{2} << lane) - 1)},
       {"%lanemask_ge", 0xffffffffU & ~((std::uint64_t{1} << lane) - 1)}}};
  const auto found =
      std::ranges::find(known, operand.name, &std::pair<std::string_view, std::uint64_t>::first);
  if (found == known.end()) {
    return unexpected(wrong(
        fmt::format("what {} holds is not the same in each execution; explore does not know it",
                    operand.name)));
  }
  return found->second;
}

Expected<LiteralValue> LiteralInstruction::value_of(const Operand& operand) const {
  using Kind = Operand::Kind;
  if (operand.kind == Kind::kRegister) {
    return held_in(operand);
  }
  if (operand.kind == Kind::kSpecial) {
    TRY(const std::uint64_t bits, special(operand));
    return LiteralValue{.bits = bits};
  }
  if (operand.kind == Kind::kInteger || operand.kind == Kind::kFloat) {
    return LiteralValue{.bits = operand.bits};
  }
  if (operand.kind == Kind::kAddress && operand.elements.size() == 1) {
    TRY(LiteralValue base, value_of(operand.elements.front()));
    base.bits += static_cast<std::uint64_t>(operand.offset);
    return base;
  }
  if (operand.kind == Kind::kSymbol && operand.elements.empty()) {
    if (const auto address = parts_.places.address_of(operand.name)) {
      return LiteralValue{.bits = *address + static_cast<std::uint64_t>(operand.offset)};
    }
  }
  return unexpected(wrong(fmt::format("explore does not know the operand '{}'", operand.text)));
}

Expected<LiteralValue> LiteralInstruction::held_in(const Operand& operand) const {
  const std::uint32_t number = parts_.registers.of(operand);
  if (number == kNoRegister || !operand.component.empty()) {
    return unexpected(wrong(fmt::format("the register {} is not known", operand.text)));
  }
  LiteralValue value = thread_.registers[number];
  if (operand.negated) {
    value.bits = parts_.registers.bytes_of(number) == 1 ? value.bits ^ 1 : ~value.bits + 1;
  }
  return value;
}

Expected<std::vector<LiteralValue>> LiteralInstruction::values_from(std::size_t first) const {
  std::vector<LiteralValue> values;
  for (std::size_t i = first; i < instruction().operands.size(); ++i) {
    TRY(const LiteralValue value, value_of(instruction().operands[i]));
    values.push_back(value);
  }
  return values;
}

StateSpace LiteralInstruction::named_space() const {
  return instruction().has(Modifier::kShared) || instruction().has(Modifier::kSharedCta)
             ? StateSpace::kShared
         : instruction().has(Modifier::kLocal) ? StateSpace::kLocal
         : instruction().has(Modifier::kGlobal) || instruction().has(Modifier::kConst)
             ? StateSpace::kGlobal
             : StateSpace::kNone;
}

std::optional<std::uint64_t> LiteralInstruction::converted_address(std::uint64_t address) const {
  const StateSpace space = named_space();
  if (space == StateSpace::kNone) {
    return std::nullopt;
  }
  return instruction().has(Modifier::kTo) ? LiteralPlaces::offset_in(space, address)
                                          : LiteralPlaces::generic_of(space, address);
}

std::optional<std::uint64_t> LiteralInstruction::is_of_space(std::uint64_t address) const {
  const StateSpace space = named_space();
  if (space == StateSpace::kNone) {
    return std::nullopt;
  }
  return LiteralPlaces::resolve(address).space == space ? 1 : 0;
}

LiteralAddress LiteralInstruction::place_of(std::uint64_t address) const {
  const StateSpace space = effect().space;
  if (space == StateSpace::kShared) {
    return {.space = space, .offset = zero_extended(address, 4)};
  }
  if (space == StateSpace::kLocal || space == StateSpace::kConst) {
    return {.space = space, .offset = address};
  }
  return LiteralPlaces::resolve(address);
}

// Registers are known by where their operand stands, so operands are never copied.
Expected<std::vector<LiteralValue>> LiteralInstruction::stored_values() const {
  const auto& operands = instruction().operands;
  std::vector<LiteralValue> values;
  for (auto i = static_cast<std::size_t>(effect().value_operand); i < operands.size(); ++i) {
    const bool is_vector = operands[i].kind == Operand::Kind::kVector;
    for (std::size_t part = 0; part < (is_vector ? operands[i].elements.size() : 1); ++part) {
      TRY(const LiteralValue value, value_of(is_vector ? operands[i].elements[part] : operands[i]));
      values.push_back({.bits = zero_extended(value.bits, element_bytes()), .reads = value.reads});
    }
  }
  return values;
}

Expected<LiteralValue> LiteralInstruction::own_value(StateSpace space, std::uint64_t offset) const {
  LiteralValue value;
  if (space == StateSpace::kParam) {
    if (offset + element_bytes() > parts_.launch.parameters.size()) {
      return unexpected(wrong("a read behind the parameters of the kernel"));
    }
    std::memcpy(&value.bits, parts_.launch.parameters.data() + offset, element_bytes());
    return value;
  }
  if (space == StateSpace::kConst) {
    const auto initial = parts_.places.initial({.space = space, .offset = offset}, element_bytes());
    if (!initial) {
      return unexpected(wrong("a read of constant memory that is not there"));
    }
    value.bits = *initial;
    return value;
  }
  for (std::uint32_t i = 0; i < element_bytes(); ++i) {
    if (const auto found = thread_.local.find(offset + i); found != thread_.local.end()) {
      value.bits |= found->second.bits << (8 * i);
      value.reads |= found->second.reads;
    }
  }
  return value;
}

}  // namespace barracuda::ptx
