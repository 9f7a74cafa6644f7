// The table of the forms of PTX's instructions (opcodes.def): what each reads, writes and
// synchronises. Instrumentation reads it through classify() (opcode.h), the emulator's decoder and
// the coverage report likewise; docs/PTX.md has it as a table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device_logger/site_info.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {

inline constexpr std::int8_t kNoOperand = -1;
// The first operand in brackets, where forms differ in their destinations.
inline constexpr std::int8_t kFirstAddress = -2;

struct Form {
  Opcode opcode = Opcode::kUnknown;
  std::array<Modifier, 3> modifiers{};  // that make it this form; kUnknown: no more
  std::string_view section;             // chapter of the ISA, 9.0
  OpcodeClass opcode_class = OpcodeClass::kUnknown;
  // What is logged of it; nothing where that is nothing.
  std::optional<wire::Operation> operation;
  wire::Asynchrony asynchrony = wire::Asynchrony::kNone;
  // Unless a modifier says another.
  wire::MemoryOrder order = wire::MemoryOrder::kWeak;
  wire::Scope scope = wire::Scope::kSys;
  wire::Proxy proxy = wire::Proxy::kGeneric;
  std::int8_t address = kNoOperand, value = kNoOperand;
  // Operands of asynchronous forms (Effect), counted from the address, or from one before the first
  // where there is no address; 0 where there is none. They may be left out but for the `needed`
  // operands that follow the address.
  std::int8_t source = 0, amount = 0, bytes = 0, mbarrier = 0, mask = 0, needed = 0;
  // False: it may touch memory that other threads see, and is named in the coverage report.
  bool is_covered = true;
};

std::span<const Form> all_forms();

// Null for an unknown opcode.
const Form* form_of(const Instruction& instruction);

}  // namespace barracuda::ptx
