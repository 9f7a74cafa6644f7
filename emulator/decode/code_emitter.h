// The code of a function that is being decoded: binds the operands of the current instruction to
// slots, and appends to the code. Widths that do not fit are adapted by extra instructions around
// the one that was written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/decode/constant_pool.h"
#include "emulator/decode/function_registers.h"
#include "emulator/decode/program_builder.h"
#include "emulator/decode/symbols.h"
#include "emulator/execute/form.h"
#include "ptx/module.h"

namespace barracuda::emulator {

class CodeEmitter {
 public:
  // Without a layout the code cannot be executed: its slots are the numbers of registers.
  CodeEmitter(ProgramBuilder& builder, Function& function, const FrameLayout* layout)
      : builder_(builder), function_(function), registers_(layout) {}

  [[nodiscard]] ProgramBuilder& builder() { return builder_; }

  [[nodiscard]] Function& function() { return function_; }

  [[nodiscard]] Symbols& symbols() { return symbols_; }

  [[nodiscard]] FunctionRegisters& registers() { return registers_; }

  // Opens the step of this statement, without a predicate.
  void begin_step(std::uint32_t statement);
  void set_predicate(Slot predicate, bool is_negated);

  [[nodiscard]] std::uint32_t statement() const { return statement_; }

  [[nodiscard]] bool is_predicated() const { return predicate_ != kNoSlot; }

  // With the predicate and the statement of the current instruction.
  Instruction& emit(const Instruction& pattern);
  Instruction& emit(Handler handler);

  // With what the handler needs besides, which the function keeps.
  template <typename Pattern, typename Extra>
  void emit(const Pattern& pattern, std::shared_ptr<Extra> extra) {
    emit(pattern).extra = extra.get();
    function_.owned.push_back(std::move(extra));
  }

  // Gives up on the instruction that is being decoded; it becomes an unsupported one.
  Slot refuse(std::string reason);
  // The same, unless it was refused for another reason already.
  void refuse_by_default(std::string reason);

  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  void unsupported(const std::string& reason);
  // Moves what the instruction wrote to registers of another width, see destination().
  void convert_results();
  // Forgets what the last instruction left, refused or not.
  void clear();

  // kNoRegister if it is not declared: the instruction is refused.
  std::uint32_t register_number(const ptx::Operand& operand, RegisterClass& its_class);
  Slot read_register(const ptx::Operand& operand, RegisterClass& its_class);
  Slot write_register(const ptx::Operand& operand, RegisterClass& its_class);

  Slot temporary(RegisterClass register_class) { return registers_.temporary(register_class); }

  Slot source(const ptx::Operand& operand, ptx::ScalarType type);
  Slot symbol_source(const ptx::Operand& operand, ptx::ScalarType type);
  // A destination that is written by the next emitted instruction.
  Slot destination(const ptx::Operand& operand, ptx::ScalarType type);
  // {a, b}, or a register that was declared as a vector; else the operand itself.
  [[nodiscard]] std::vector<ptx::Operand> elements_of(const ptx::Operand& operand);

  // No instruction comes later.
  [[nodiscard]] std::vector<StepEnd> step_ends() const;
  void finish();

 private:
  struct Conversion {
    Slot from = kNoSlot, to = kNoSlot;
    Handler handler = nullptr;
  };

  Slot declared_address(const Symbol& symbol, std::int64_t offset);
  Slot shared_address(const ptx::Variable& variable, std::int64_t offset);
  Slot adapted(Slot slot, RegisterClass from, ptx::ScalarType type);
  Slot emit_to_temporary(Handler handler, RegisterClass register_class, Slot a,
                         std::int64_t immediate);

  ProgramBuilder& builder_;
  Function& function_;
  Symbols symbols_;
  FunctionRegisters registers_;
  ConstantPool constants_;
  std::vector<std::uint32_t> step_begins_{0};  // in the code

  // Of the instruction that is being decoded.
  std::uint32_t statement_ = 0;
  Slot predicate_ = kNoSlot;
  bool predicate_negated_ = false;
  std::string refusal_;
  std::vector<Conversion> conversions_;
};

}  // namespace barracuda::emulator
