#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/expected.h"
#include "device_logger/memory_order.h"
#include "device_logger/store_delays.h"
#include "ptx/analysis/call_sequence.h"
#include "ptx/analysis/insertions.h"
#include "ptx/analysis/polling.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_sizes.h"
#include "ptx/analysis/source_frames.h"
#include "ptx/control_flow.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::delay_stores {
namespace {

using enum OpcodeClass;

// What is done about an instruction.
enum class Action : std::uint8_t {
  kNone,
  kDelay,    // a store that may wait
  kOverlay,  // a load that sees what waits
  kSettle,   // an access that finds its own bytes in memory
  kDrain,    // nothing waits any more when it is executed
};

constexpr std::uint32_t kMostBytes = 16;
// Where values of any type become words and back: bytes of the thread's own.
constexpr std::string_view kDeclareValue = ".local .align 16 .b8 __barracuda_value[16];";
constexpr std::string_view kDeclareRegisters =
    ".reg .b64 %__barracuda_a, %__barracuda_v0, %__barracuda_v1;\n"
    ".reg .b32 %__barracuda_d, %__barracuda_o;\n.reg .pred %__barracuda_q;\n";

std::uint32_t bytes_of(const Effect& effect) {
  return size_of(effect.type) * effect.elements;
}

// A value that fits into two words and whose registers can all be written and read.
bool is_plain_value(const Instruction& instruction, const Effect& effect, std::size_t operand) {
  if (effect.type == ScalarType::kB128 || bytes_of(effect) > kMostBytes ||
      effect.type == ScalarType::kNone || instruction.last_type() != effect.type ||
      operand >= instruction.operands.size()) {
    return false;
  }
  const Operand& value = instruction.operands[operand];
  return value.kind != Operand::Kind::kSink &&
         std::ranges::none_of(value.elements, [](const Operand& element) {
           return element.kind == Operand::Kind::kSink;
         });
}

// The address is one that write_address can make.
bool is_plain_address(const Statement& statement, const Effect& effect) {
  const Operand* const address = address_of(statement, effect);
  if (address == nullptr || bytes_of(effect) == 0) {
    return false;
  }
  if (address->kind == Operand::Kind::kSymbol) {
    return address->elements.empty() && effect.space != StateSpace::kGeneric;
  }
  return address->elements[0].kind != Operand::Kind::kSymbol ||
         effect.space != StateSpace::kGeneric;
}

Action action_of_access(const Statement& statement, const Effect& effect, bool delays_strong) {
  if (!is_shared_access(effect)) {
    return Action::kNone;
  }
  const Instruction& instruction = statement.instruction;
  const bool writes = effect.opcode_class != kLoad;
  if (!is_plain_address(statement, effect) || (writes && wire::has_release(effect.order))) {
    return Action::kDrain;
  }
  if (effect.opcode_class == kAtomic || effect.opcode_class == kReduction ||
      instruction.has(Modifier::kMmio) || effect.proxy != wire::Proxy::kGeneric ||
      !is_plain_value(instruction, effect, writes ? 1 : 0)) {
    return Action::kSettle;
  }
  if (!writes) {
    return Action::kOverlay;
  }
  return effect.order == wire::MemoryOrder::kWeak || delays_strong ? Action::kDelay
                                                                   : Action::kSettle;
}

Action action_of(const Program& program, std::size_t i, bool in_entry, bool delays_strong) {
  const Statement& statement = program.module.statements[i];
  const Effect& effect = program.effects[i];
  switch (effect.opcode_class) {
    case kLoad:
    case kStore:
    case kAtomic:
    case kReduction:
      return action_of_access(statement, effect, delays_strong);
    case kFence:
      return effect.order == wire::MemoryOrder::kAcquire ? Action::kNone : Action::kDrain;
    case kReturn:
      return in_entry ? Action::kDrain : Action::kNone;
    case kNoEffect:
      return effect.not_covered || statement.instruction.opcode == Opcode::kFence ||
                     statement.instruction.opcode == Opcode::kMembar
                 ? Action::kDrain
                 : Action::kNone;
    case kCall: {
      const Function* const function = called_function(program.module, statement.instruction);
      return function != nullptr && function->has_body ? Action::kNone : Action::kDrain;
    }
    case kMatrixAccess:
    case kProxyFence:
    case kBarrier:
    case kBarrierArrive:
    case kWarpBarrier:
    case kClusterBarrier:
    case kGridDependency:
    case kMbarrier:
    case kAsyncCopy:
    case kExit:
    case kTrap:
    case kTexture:
    case kUnknown:
      return Action::kDrain;
    case kArithmetic:
    case kWarpCollective:
    case kBranch:
      return Action::kNone;
  }
  return Action::kDrain;
}

// What drains here is no release that other blocks could wait for.
bool lingers_at(const Effect& effect) {
  const OpcodeClass c = effect.opcode_class;
  return c == kBarrier || c == kBarrierArrive || c == kWarpBarrier || c == kExit || c == kReturn;
}

class FunctionWriter {
 public:
  // `polling`: where strong stores do not wait, by statement of the body.
  FunctionWriter(Program& program, std::uint32_t index, const ControlFlow& flow,
                 std::vector<bool> polling, std::uint32_t& next_label,
                 std::vector<Insertion>& insertions)
      : program_(program),
        function_(program.function(index)),
        flow_(flow),
        polling_(std::move(polling)),
        next_label_(next_label),
        insertions_(insertions) {}

  void write() {
    insert(function_.body_begin + 1, std::string(kDeclareValue) + '\n');
    for (const std::uint32_t head : loop_heads(flow_)) {
      std::size_t at = flow_.blocks[head].begin;
      while (program_.module.statements[at].kind == StatementKind::kLabel) {
        ++at;
      }
      insert(at, drain(wire::kDrainLingers));
    }
    registers_.enter(function_);
    for (std::size_t i = function_.body_begin + 1; i < function_.body_end; ++i) {
      registers_.read(program_.module.statements[i]);
      if (program_.module.statements[i].kind == StatementKind::kInstruction) {
        write_instruction(i);
      }
    }
    if (function_.is_entry) {
      insert(function_.body_end, drain(wire::kDrainLingers));
    }
  }

 private:
  void write_instruction(std::size_t i) {
    switch (action_of(program_, i, function_.is_entry, !polling_[i - function_.body_begin])) {
      case Action::kNone:
        return;
      case Action::kDelay:
        write_store(i);
        break;
      case Action::kOverlay:
        write_load(i);
        break;
      case Action::kSettle:
        write_settle(i);
        break;
      case Action::kDrain:
        insert(program_.effects[i].opcode_class == kCall
                   ? find_call_sequence(program_.module, function_, i).begin
                   : i,
               drain(lingers_at(program_.effects[i]) ? wire::kDrainLingers : wire::kDrainAtOnce));
        break;
    }
    ++program_.logged_instructions;
  }

  void write_store(std::size_t i) {
    Statement& statement = program_.module.statements[i];
    const Instruction& store = statement.instruction;
    const Effect& effect = program_.effects[i];
    const std::string bytes =
        fmt::to_string(bytes_of(effect) | (effect.order == wire::MemoryOrder::kWeak
                                               ? 0
                                               : wire::kStrongStore << wire::kStrongStoreShift));
    const std::string label = skip_label();
    std::string before =
        open(statement, label) +
        fmt::format("st.local.{} [__barracuda_value], {};\n", type_of(store, effect),
                    store.operands[1].text) +
        "ld.local.v2.b64 {%__barracuda_v0, %__barracuda_v1}, [__barracuda_value];\n" +
        write_call(
            program_.called_hooks, {.name = "delay"},
            {b64("%__barracuda_a"), b64("%__barracuda_v0"), b64("%__barracuda_v1"), b32(bytes)},
            ".param .b32 __barracuda_result;\n",
            "ld.param.b32 %__barracuda_d, [__barracuda_result];\n") +
        "setp.ne.u32 %__barracuda_q, %__barracuda_d, 0;\n";
    insert(i, std::move(before));
    const auto at = static_cast<std::size_t>(store.mnemonic.data() - statement.text.data());
    statement.text =
        program_.module.own(fmt::format("@!%__barracuda_q {}", statement.text.substr(at)));
    insert(i + 1, close(store, label));
  }

  void write_load(std::size_t i) {
    const Statement& statement = program_.module.statements[i];
    const Instruction& load = statement.instruction;
    const Effect& effect = program_.effects[i];
    const std::string type = type_of(load, effect);
    const std::string_view value = load.operands[0].text;
    const std::string label = skip_label();
    insert(i, open(statement, label));
    insert(i + 1, fmt::format("st.local.{} [__barracuda_value], {};\n", type, value) +
                      "ld.local.v2.b64 {%__barracuda_v0, %__barracuda_v1}, [__barracuda_value];\n" +
                      write_call(program_.called_hooks, {.name = "overlay"},
                                 {b64("%__barracuda_a"), b64("%__barracuda_v0"),
                                  b64("%__barracuda_v1"), b32(bytes_of(effect))},
                                 ".param .align 8 .b8 __barracuda_result[16];\n",
                                 "ld.param.b64 %__barracuda_v0, [__barracuda_result];\n"
                                 "ld.param.b64 %__barracuda_v1, [__barracuda_result+8];\n") +
                      "st.local.v2.b64 [__barracuda_value], {%__barracuda_v0, %__barracuda_v1};\n" +
                      fmt::format("ld.local.{} {}, [__barracuda_value];\n", type, value) +
                      close(load, label));
  }

  void write_settle(std::size_t i) {
    const Statement& statement = program_.module.statements[i];
    const std::string label = skip_label();
    insert(i, open(statement, label) +
                  write_call(program_.called_hooks, {.name = "settle"},
                             {b64("%__barracuda_a"), b32(bytes_of(program_.effects[i]))}) +
                  close(statement.instruction, label));
  }

  std::string drain(std::uint32_t how) {
    return write_call(program_.called_hooks, {.name = "drain"}, {b32(how)});
  }

  static std::string type_of(const Instruction& access, const Effect& effect) {
    const std::string_view element = text_of(access.modifiers.back());
    return effect.elements == 1 ? std::string(element)
                                : fmt::format("v{}.{}", effect.elements, element);
  }

  std::string skip_label() { return fmt::format("$__barracuda_skip{}", next_label_++); }

  // A scope in which %__barracuda_a is the generic address; lanes whose predicate is false leave
  // it.
  [[nodiscard]] std::string open(const Statement& statement, std::string_view label) const {
    const Instruction& access = statement.instruction;
    std::string text = fmt::format("{{\n{}", kDeclareRegisters);
    if (!access.predicate.empty()) {
      text += fmt::format("@{}{} bra {};\n", access.predicate_negated ? "" : "!", access.predicate,
                          label);
    }
    return text + write_address(statement);
  }

  static std::string close(const Instruction& access, std::string_view label) {
    return access.predicate.empty() ? "}\n" : fmt::format("{}:\n}}\n", label);
  }

  [[nodiscard]] std::string write_address(const Statement& statement) const {
    const auto& operands = statement.instruction.operands;
    const Effect& effect =
        program_.effects[static_cast<std::size_t>(&statement - program_.module.statements.data())];
    const Operand& address = operands[static_cast<std::size_t>(effect.address_operand)];
    const Operand& base = address.kind == Operand::Kind::kAddress ? address.elements[0] : address;
    const std::string_view name = base.kind == Operand::Kind::kSymbol ? base.name : base.text;
    const std::uint32_t width = registers_.bytes_of(base);
    if (effect.space == StateSpace::kShared) {
      return fmt::format(
          "{} %__barracuda_o, {};\nadd.s32 %__barracuda_o, %__barracuda_o, {};\n"
          "cvt.u64.u32 %__barracuda_a, %__barracuda_o;\n"
          "cvta.shared{}.u64 %__barracuda_a, %__barracuda_a;\n",
          width == 8 ? "cvt.u32.u64" : "mov.b32", name, static_cast<std::int32_t>(address.offset),
          effect.shared_cluster ? "::cluster" : "");
    }
    std::string text =
        fmt::format("{} %__barracuda_a, {};\n", width == 4 ? "cvt.u64.u32" : "mov.b64", name);
    if (address.offset != 0) {
      text += fmt::format("add.s64 %__barracuda_a, %__barracuda_a, {};\n", address.offset);
    }
    return effect.space == StateSpace::kGlobal
               ? text + "cvta.global.u64 %__barracuda_a, %__barracuda_a;\n"
               : text;
  }

  void insert(std::size_t position, std::string text) {
    text.pop_back();  // the printer ends every statement's line
    insertions_.push_back({position, std::move(text)});
  }

  Program& program_;
  const Function& function_;
  const ControlFlow& flow_;
  const std::vector<bool> polling_;
  std::uint32_t& next_label_;
  std::vector<Insertion>& insertions_;
  RegisterSizes registers_;
};

void name_not_covered(Program& program, std::uint32_t index, SourceFrames& frames) {
  const Function& function = program.function(index);
  frames.enter(function);
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind == StatementKind::kInstruction &&
        (program.effects[i].not_covered || program.effects[i].opcode_class == kUnknown)) {
      const auto chain = frames.at(i);
      program.not_covered.push_back({.function = std::string(function.name),
                                     .instruction = name_of(statement.instruction),
                                     .reason = "all delayed stores are made visible before it",
                                     .ptx_line = statement.position.line,
                                     .where = chain.empty() ? SourceFrame{} : chain.front()});
    }
  }
}

}  // namespace

Expected<void> run(Program& program) {
  if (!program.options.delays_stores) {
    return {};
  }
  std::vector<Insertion> insertions;
  // A lane whose strong store waits may itself wait, where lanes meet, for one that polls for it.
  TRY(const Pollers pollers, find_pollers(program));
  SourceFrames frames(program.module);
  std::uint32_t next_label = 0;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.function(i).has_body && program.functions[i].is_instrumented &&
        !program.functions[i].is_empty) {
      name_not_covered(program, i, frames);
      TRY(const ControlFlow* const flow, program.flow_of(i));
      FunctionWriter(program, i, *flow, find_polling(program, i, *flow, pollers), next_label,
                     insertions)
          .write();
    }
  }
  program.flows = {};
  apply_insertions(program.module, std::move(insertions));
  return {};
}

}  // namespace barracuda::ptx::delay_stores
