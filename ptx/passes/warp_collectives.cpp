#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "device_logger/symbols.h"
#include "ptx/analysis/insertions.h"
#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/interval_text.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::warp_collectives {
namespace {

bool is_collective(const Instruction& instruction) {
  const bool is_one = instruction.opcode == Opcode::kVote || instruction.opcode == Opcode::kShfl ||
                      instruction.opcode == Opcode::kMatch ||
                      instruction.opcode == Opcode::kRedux || instruction.opcode == Opcode::kElect;
  return is_one && instruction.has(Modifier::kSync);
}

// What an instruction of this mnemonic has, by PTX ISA 9.7.9 (shfl) and 9.7.13 (the others).
struct Collective {
  std::string mnemonic;  // without spaces
  std::size_t sources = 0;
  bool has_predicate_result = false;  // vote's alone, or the second of d|p
  bool has_value = true;
  bool has_predicate_source = false;  // vote's: the first
  unsigned first_bits = 32;           // of the first source; the others have 32

  [[nodiscard]] std::string function() const {
    std::string name = fmt::format("{}{}{}", wire::kPrefix, mnemonic,
                                   has_value && has_predicate_result ? "_pair" : "");
    std::ranges::replace(name, '.', '_');
    return name;
  }
};

// Nothing for what is written in a way that this does not know: it stays as it is.
std::optional<Collective> read(const Instruction& instruction) {
  const std::vector<Operand>& operands = instruction.operands;
  const bool is_vote = instruction.opcode == Opcode::kVote;
  Collective read{.mnemonic = std::string(instruction.mnemonic)};
  const auto is_known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == 'N';
  };
  if (operands.size() < 2 || !std::ranges::all_of(read.mnemonic, is_known)) {
    return std::nullopt;
  }
  read.sources = operands.size() - 1;
  read.has_value = !is_vote || instruction.has(Modifier::kBallot);
  read.has_predicate_result = !read.has_value || operands[0].kind == Operand::Kind::kPair;
  read.has_predicate_source = is_vote;
  if (instruction.opcode == Opcode::kMatch && instruction.last_type() == ScalarType::kB64) {
    read.first_bits = 64;
  }
  if (is_vote && operands[1].kind != Operand::Kind::kRegister) {
    return std::nullopt;
  }
  return read;
}

// What it gives back: the value, and behind it whether the predicate is true, 32 bits each.
std::string write_function(const Collective& of) {
  std::string parameters, loads, sources;
  for (std::size_t i = 0; i < of.sources; ++i) {
    const unsigned bits = i == 0 ? of.first_bits : 32;
    parameters += fmt::format("{}.param .b{} a{}", i == 0 ? "" : ", ", bits, i);
    loads += fmt::format(".reg .b{0} %a{1};\nld.param.b{0} %a{1}, [a{1}];\n", bits, i);
    sources += fmt::format(", {}{}", of.has_predicate_source && i == 0 ? "%q" : "%a",
                           of.has_predicate_source && i == 0 ? "" : std::to_string(i));
  }
  if (of.has_predicate_source) {
    loads += ".reg .pred %q;\nsetp.ne.b32 %q, %a0, 0;\n";
  }
  const std::string_view result = !of.has_value ? "%p" : of.has_predicate_result ? "%v|%p" : "%v";
  return fmt::format(
      ".func (.param .align 8 .b8 result[8]) {}({})\n{{\n.reg .b32 %v, %w;\n.reg .pred %p;\n{}{} "
      "{}{};\n{}{}ret;\n}}\n",
      of.function(), parameters, loads, of.mnemonic, result, sources,
      of.has_value ? "st.param.b32 [result], %v;\n" : "",
      of.has_predicate_result ? "selp.b32 %w, 1, 0, %p;\nst.param.b32 [result+4], %w;\n" : "");
}

// A barrier to which lanes may come apart is one of theirs, too.
std::string write_any_at_barrier(std::string_view name, std::string_view barrier) {
  return fmt::format(
      ".func (.param .align 8 .b8 result[8]) {}(.param .b64 a0)\n{{\n.reg .b64 %a;\n.reg .pred "
      "%p;\nld.param.b64 %a, [a0];\nsetp.ne.b64 %p, %a, 0;\nbarrier.red.or.pred %p, {}, %p;\n"
      "selp.b64 %a, 1, 0, %p;\nst.param.b64 [result], %a;\nret;\n}}\n",
      name, barrier);
}

std::string write_results(const Collective& of, const Operand& destination) {
  const bool is_pair = destination.kind == Operand::Kind::kPair;
  const Operand& value = is_pair ? destination.elements.front() : destination;
  const Operand& predicate = is_pair ? destination.elements.back() : destination;
  std::string text;
  if (of.has_value && value.kind != Operand::Kind::kSink) {
    text += fmt::format("ld.param.b32 {}, [__barracuda_result];\n", value.text);
  }
  if (of.has_predicate_result && predicate.kind != Operand::Kind::kSink) {
    text += fmt::format(
        "ld.param.b32 %__barracuda_v, [__barracuda_result+4];\n"
        "setp.ne.b32 {}, %__barracuda_v, 0;\n",
        predicate.text);
  }
  return text;
}

std::string write(const Collective& of, const Instruction& instruction, std::size_t label,
                  HookNames& called) {
  std::string before;
  std::vector<HookArgument> arguments;
  for (std::size_t i = 0; i < of.sources; ++i) {
    const Operand& source = instruction.operands[i + 1];
    if (i == 0 && of.has_predicate_source) {
      before = fmt::format("selp.b32 %__barracuda_v, {}, {};\n", source.negated ? "0, 1" : "1, 0",
                           source.name);
      arguments.push_back(b32("%__barracuda_v"));
    } else {
      arguments.push_back({.bits = i == 0 ? of.first_bits : 32, .value = std::string(source.text)});
    }
  }
  const std::string name = of.function();
  std::string text = "{\n.reg .b32 %__barracuda_v;\n";
  if (!instruction.predicate.empty()) {
    text += fmt::format("@{}{} bra $__barracuda_alone{};\n",
                        instruction.predicate_negated ? "" : "!", instruction.predicate, label);
  }
  text += before;
  text += write_call(
      called, {.name = std::string_view(name).substr(std::string_view(wire::kPrefix).size())},
      arguments, ".param .align 8 .b8 __barracuda_result[8];\n",
      write_results(of, instruction.operands[0]));
  if (!instruction.predicate.empty()) {
    text += fmt::format("$__barracuda_alone{}:\n", label);
  }
  return text + "}";
}

}  // namespace

Expected<void> run(Program& program) {
  if (program.called_hooks.empty()) {
    return {};
  }
  Module& module = program.module;
  std::map<std::string, std::string> functions;
  for (std::size_t i = 0; i < module.statements.size(); ++i) {
    Statement& statement = module.statements[i];
    if (!is_collective(statement.instruction)) {
      continue;
    }
    if (const auto collective = read(statement.instruction)) {
      statement.text =
          module.own(write(*collective, statement.instruction, i, program.called_hooks));
      const auto [function, is_new] = functions.try_emplace(collective->function());
      if (is_new) {
        function->second = write_function(*collective);
      }
    }
  }
  const std::string any_at_barrier = fmt::format("{}{}", wire::kPrefix, kAnyAtBarrier);
  for (const std::string& name : program.called_hooks) {
    if (name.starts_with(any_at_barrier)) {
      const std::string_view barrier = std::string_view(name).substr(any_at_barrier.size());
      functions.emplace(name, write_any_at_barrier(name, barrier));
    }
  }
  std::string text;
  for (const auto& [name, function] : functions) {
    text += function;
  }
  if (!text.empty()) {
    text.pop_back();
    const auto first =
        std::ranges::find(module.statements, StatementKind::kFunction, &Statement::kind);
    const auto position = static_cast<std::size_t>(first - module.statements.begin());
    apply_insertions(module, {{.position = position, .text = std::move(text)}});
  }
  return {};
}

}  // namespace barracuda::ptx::warp_collectives
