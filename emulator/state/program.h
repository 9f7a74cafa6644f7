// One kernel with every function it can reach, decoded. Immutable while launches run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/machine.h"
#include "emulator/state/instruction.h"

namespace barracuda::emulator {

struct Function;

// A function's locals (.local variables and the .param variables of calls) lie in the lane's local
// memory from the frame's base on; an argument or result passed in a register is a slot instead.
struct Passed {
  Slot slot = kNoSlot;             // of a register or a constant; kNoSlot: in local memory
  std::uint32_t local_offset = 0;  // multiple of 8
  std::uint32_t bytes = 0;
};

struct CallSite {
  const Function* callee = nullptr;  // null: indirect, the target is slot a
  std::vector<Passed> arguments, results;
};

struct VectorSlots {
  Slot slots[8];
};

static_assert(sizeof(VectorSlots) == 8 * sizeof(Slot));

struct BranchTable {
  std::vector<std::uint32_t> targets;
};

struct ConstantsDeleter {
  void operator()(std::byte* memory) const;
};

struct Function {
  std::string_view name;
  std::uint32_t index = 0;  // in Program::functions
  std::uint32_t register_bytes = 0;
  std::uint32_t local_bytes = 0;  // of one lane
  bool is_entry = false;
  bool is_tool = false;  // of this tool, not of the program
  std::vector<Instruction> code;
  std::unique_ptr<std::byte[], ConstantsDeleter> constants;
  std::vector<Passed> parameters, returns;
  std::vector<std::unique_ptr<CallSite>> calls;
  std::vector<std::unique_ptr<VectorSlots>> vectors;
  std::vector<std::unique_ptr<BranchTable>> branch_tables;
  std::vector<std::shared_ptr<const void>> owned;     // other extras of instructions
  std::vector<std::unique_ptr<std::string>> reasons;  // why an instruction is not supported
};

// What a message says of an instruction.
struct InstructionText {
  std::string_view text;
  std::uint32_t line = 0;
};

struct Program {
  std::string_view kernel;
  std::vector<std::unique_ptr<Function>> functions;  // [0] is the entry
  // Sorted by address: what an indirect call may call.
  std::vector<std::pair<std::uint64_t, const Function*>> addresses;
  const std::vector<InstructionText>* texts = nullptr;                // the module's, by statement
  std::vector<std::pair<std::uint64_t, std::uint64_t>> const_ranges;  // begin, end
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t parameter_bytes = 0;

  [[nodiscard]] const Function* function_at(std::uint64_t address) const;

  // Functions lie where they say, the entry first, and what their code names is theirs.
  [[nodiscard]] bool is_valid() const;

  [[nodiscard]] const InstructionText& text_of(const Instruction& instruction) const {
    return (*texts)[instruction.statement];
  }
};

}  // namespace barracuda::emulator
