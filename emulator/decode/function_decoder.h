// Decodes one function: declares its names, binds operands to slots, chooses handlers. Widths that
// do not fit are adapted by extra instructions around the one that was written. It is done twice:
// where registers lie is known when all their uses are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "emulator/decode/frame_layout.h"
#include "emulator/decode/program_builder.h"
#include "emulator/decode/register_uses.h"
#include "emulator/decode/symbols.h"
#include "emulator/execute/control.h"
#include "emulator/execute/form.h"

namespace barracuda::emulator {

struct NativeSite;

class FunctionDecoder {
 public:
  // Without a layout the code cannot be executed: its slots are the numbers of registers.
  FunctionDecoder(ProgramBuilder& builder, const ptx::Function& source, Function& function,
                  const FrameLayout* layout);
  FrameLayout plan();
  void decode();

 private:
  using Operand = ptx::Operand;

  // --- function_decoder.cpp: statements, names, layout ---
  void declare_parameters();
  void declare(const ptx::Variable& variable);
  void declare_function_parameter(const ptx::Variable& variable, std::vector<Passed>& passed);
  void decode_body();
  void next_step();
  [[nodiscard]] std::vector<StepEnd> step_ends() const;
  void open_block();
  void close_block();
  void decode_statement(std::size_t index);
  void decode_instruction(const ptx::Instruction& instruction);
  bool decode_named(const ptx::Instruction& instruction);
  void resolve_branches();
  std::uint32_t find_label(std::string_view label, std::uint32_t block) const;
  void finish_constants();

  // --- operands.cpp ---
  Instruction& emit(Handler handler);
  void unsupported(std::string reason);
  [[nodiscard]] Slot slot_of(std::uint32_t number) const;
  Slot temporary(RegisterClass register_class);
  Slot carry();
  Slot constant(std::uint64_t bits, RegisterClass register_class, bool shared_by_value = true);
  std::uint32_t new_local(std::uint64_t bytes, std::uint32_t alignment);
  std::uint32_t register_number(const Operand& operand, RegisterClass& its_class);
  Slot read_register(const Operand& operand, RegisterClass& its_class);
  Slot write_register(const Operand& operand, RegisterClass& its_class);
  Slot source(const Operand& operand, ptx::ScalarType type);
  Slot symbol_source(const Operand& operand, ptx::ScalarType type);
  Slot declared_address(const Symbol& symbol, std::int64_t offset);
  Slot shared_address(const ptx::Variable& variable, std::int64_t offset);
  Slot adapted(Slot slot, RegisterClass from, ptx::ScalarType type);
  Slot emit_to_temporary(Handler handler, RegisterClass register_class, Slot a,
                         std::int64_t immediate);
  // A destination that is written by the next emitted instruction; settle() moves it to the
  // register that was written where the widths differ.
  Slot destination(const Operand& operand, ptx::ScalarType type);
  void settle();
  bool elements_of(const Operand& operand, std::vector<Operand>& elements);
  // Gives up on the instruction that is being decoded; it becomes an unsupported one.
  Slot refuse(std::string reason);

  // --- memory.cpp ---
  struct Address {
    Place place = Place::kGeneric;
    Slot slot = kNoSlot;
    std::int64_t offset = 0;
  };

  bool bind_address(const Operand& operand, ptx::StateSpace space, Address& address);
  bool bind_symbol_address(const Operand& base, ptx::StateSpace space, Address& address);
  void decode_load(const ptx::Instruction& instruction);
  void decode_store(const ptx::Instruction& instruction);
  void decode_atomic(const ptx::Instruction& instruction);
  void decode_vector_atomic(const ptx::Instruction& instruction);
  void emit_access(Handler handler, const Address& address, const std::vector<Slot>& slots);
  void decode_address_conversion(const ptx::Instruction& instruction);
  void decode_is_space(const ptx::Instruction& instruction);
  void decode_cluster_address(const ptx::Instruction& instruction);
  void decode_stack(const ptx::Instruction& instruction);

  // --- weak_access.cpp ---
  // Memory is weak: the instruction that was emitted last gets the handler that knows it.
  void make_weak(const ptx::Instruction& instruction);

  // --- late_load.cpp ---
  // Before which statement the load that is the statement `load` ends. None: it is never late.
  std::optional<std::size_t> late_end(std::size_t load);
  // The call that is being decoded logs a load that may be late: it comes when that is completed.
  bool postpone_log(const std::shared_ptr<NativeSite>& site);
  // The load that was emitted last only issues it, if it may be late.
  void split_load(const ptx::Instruction& instruction, WeakSite& site);
  // What must come before the statement.
  void complete_loads(std::size_t statement);
  void free_kept();

  // --- asynchronous.cpp ---
  bool bind_place(const Operand& operand, ptx::StateSpace space, Instruction& place);
  void decode_mbarrier(const ptx::Instruction& instruction);
  void decode_plain_copy(const ptx::Instruction& instruction, const ptx::Effect& effect);
  void decode_bulk_copy(const ptx::Instruction& instruction, const ptx::Effect& effect);
  void decode_tensor_copy(const ptx::Instruction& instruction, const ptx::Effect& effect);
  void decode_async_copy(const ptx::Instruction& instruction);
  void decode_remote_store(const ptx::Instruction& instruction);
  void decode_bulk_zeros(const ptx::Instruction& instruction);

  // --- matrix.cpp ---
  bool bind_registers(const Operand& operand, ptx::ScalarType type, bool writes,
                      std::vector<Slot>& slots);
  void decode_mma(const ptx::Instruction& instruction);
  void decode_wmma(const ptx::Instruction& instruction);
  void decode_matrix_access(const ptx::Instruction& instruction);
  void decode_matrix_rows(const ptx::Instruction& instruction);
  void decode_move_matrix(const ptx::Instruction& instruction);

  // --- warpgroup.cpp ---
  void decode_warpgroup(const ptx::Instruction& instruction);
  void decode_warpgroup_product(const ptx::Instruction& instruction);

  // --- control.cpp ---
  void decode_branch(const ptx::Instruction& instruction);
  void decode_indexed_branch(const ptx::Instruction& instruction);
  void decode_call(const ptx::Instruction& instruction);
  bool bind_passed(const Operand& list, const std::vector<Passed>* wanted,
                   std::vector<Passed>& bound);
  void emit_native_call(const NativeFunction& native, CallSite call);
  bool bind_callee(const Operand& callee, CallSite& call, Instruction& pattern);
  void decode_barrier(const ptx::Instruction& instruction);
  void decode_collective(const ptx::Instruction& instruction);
  bool decode_simple(const ptx::Instruction& instruction);

  // --- arithmetic.cpp ---
  void decode_arithmetic(const ptx::Instruction& instruction);
  void decode_move(const ptx::Instruction& instruction);
  void decode_vector_move(const ptx::Instruction& instruction, const Form& form);
  void bind_arithmetic(const ptx::Instruction& instruction, const Selection& selection);

  struct Block {
    std::uint32_t parent = 0;
    std::uint32_t local_top = 0;
    boost::unordered_flat_map<std::string_view, std::uint32_t> labels;  // pc
  };

  struct Branch {
    std::size_t instruction = 0;
    std::string_view label;
    std::uint32_t block = 0;
    BranchTable* table = nullptr;  // its next entry, instead of the instruction's target
  };

  struct Settlement {
    Slot from = kNoSlot, to = kNoSlot;
    Handler handler = nullptr;
  };

  // A load that is to be completed, or the call that logs one.
  struct Postponed {
    std::size_t end = 0;                   // before which statement
    std::uint32_t statement = 0;           // its own
    Instruction load{};                    // as it was issued
    std::vector<std::uint32_t> registers;  // that it loads
    const NativeSite* log = nullptr;       // null: it is a load
  };

  ProgramBuilder& builder_;
  const ptx::Module& module_;
  const ptx::Function& source_;
  Function& function_;
  Symbols symbols_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> open_blocks_;
  std::vector<Branch> branches_;
  boost::unordered_flat_map<std::string_view, const ptx::Statement*> tables_;  // .branchtargets …
  boost::unordered_flat_map<std::string_view, const ptx::Statement*> prototypes_;
  std::vector<std::byte> constants_;
  boost::unordered_flat_map<std::uint64_t, Slot> constant_slots_[3];
  std::vector<std::pair<std::uint32_t, std::uint32_t>> dynamic_constants_;
  std::vector<Settlement> settlements_;
  std::uint32_t local_top_ = 0;
  std::vector<Postponed> postponed_;
  // Local memory between the two holds arguments of calls that are postponed; 0: none does.
  std::uint32_t kept_base_ = 0, kept_top_ = 0;
  const FrameLayout* layout_;
  RegisterUses uses_;
  std::vector<std::uint32_t> step_begins_{0};  // in the code
  std::vector<std::uint32_t> returned_;        // the registers of the results
  std::uint32_t carry_ = kNoRegister;

  // Of the statement that is being decoded.
  std::uint32_t statement_ = 0;
  Slot predicate_ = kNoSlot;
  bool predicate_negated_ = false;
  std::string refusal_;
};

}  // namespace barracuda::emulator
