#include "ptx/inline_calls.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ptx/analysis/program.h"
#include "ptx/opcode.h"
#include "ptx/printer/token_reader.h"

namespace barracuda::ptx {
namespace {

constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kMostBytes = 1U << 20U;  // of the text

// What a name of the text is called in the one that is made. A parameter of one value is a register
// there, an array local memory.
struct Name {
  std::string made;
  std::uint64_t register_bytes = 0;  // 0: it is memory
};

using Names = std::map<std::string_view, Name>;

// ld.param and st.param of a whole value.
bool is_whole(const Instruction& instruction, const Operand& address, std::uint64_t bytes) {
  const Effect effect = classify(instruction);
  return effect.space == StateSpace::kParam && effect.elements == 1 &&
         size_of(effect.type) == bytes && address.offset == 0 && address.elements.size() == 1 &&
         address.elements.front().kind == Operand::Kind::kSymbol &&
         address.elements.front().offset == 0;
}

class Inliner {
 public:
  explicit Inliner(const Module& module) : module_(module) {}

  std::string run(const Function& entry) && {
    for (std::size_t i = 0; i < module_.statements.size(); ++i) {
      if (i == entry.body_begin) {
        write_body(entry, Names(), "");
        i = entry.body_end;
      } else {
        write(module_.statements[i].text);
      }
    }
    return std::move(text_);
  }

 private:
  void write(std::string_view line) {
    text_ += line;
    text_ += '\n';
  }

  // `end`: the label behind a function's last instruction; none: it is the kernel.
  void write_body(const Function& function, Names parameters, const std::string& end) {
    callers_.push_back(&function);
    std::vector<Names> scopes = {std::move(parameters)};
    // A function that returns at its end alone stays within its caller's basic block.
    const std::size_t last = end.empty() ? function.body_end : last_return(function);
    bool is_left = false;
    for (std::size_t i = function.body_begin; i <= function.body_end; ++i) {
      const Statement& statement = module_.statements[i];
      if (i == last && last != function.body_end) {
        continue;
      }
      is_left = is_left || statement.instruction.opcode == Opcode::kRet;
      if (i == function.body_end && !end.empty() && is_left) {
        write(end + ":");
      }
      if (statement.kind == StatementKind::kBlockOpen) {
        scopes.push_back(scopes.back());
      } else if (statement.kind == StatementKind::kBlockClose) {
        scopes.pop_back();
      } else if (statement.kind == StatementKind::kVariable &&
                 declare(statement, scopes.back(), end)) {
        continue;
      } else if (statement.kind == StatementKind::kInstruction) {
        write_instruction(statement, scopes.back(), end);
        continue;
      }
      write(statement.text);
    }
    callers_.pop_back();
  }

  // If it is the last instruction, and always executed there; none: the body's end.
  [[nodiscard]] std::size_t last_return(const Function& function) const {
    for (std::size_t i = function.body_end; i-- > function.body_begin;) {
      const Statement& each = module_.statements[i];
      if (each.kind == StatementKind::kInstruction) {
        const bool is_it =
            each.instruction.opcode == Opcode::kRet && each.instruction.predicate.empty();
        return is_it ? i : function.body_end;
      }
    }
    return function.body_end;
  }

  // Parameters of calls, and what each call of a function has of its own. Whether it was written.
  bool declare(const Statement& statement, Names& names, const std::string& end) {
    const bool is_written = std::ranges::all_of(statement.variables, [&](const Variable& each) {
      return each.space == StateSpace::kParam || (each.space == StateSpace::kLocal && !end.empty());
    });
    if (!is_written) {
      return false;
    }
    for (const Variable& each : statement.variables) {
      constexpr std::uint64_t kWidest = 8, kBits = 8;
      const bool is_value = each.space == StateSpace::kParam && !each.is_array &&
                            each.vector == 1 && each.size() > 1 && each.size() <= kWidest;
      Name& name = names[each.name];
      name = {.made = fmt::format("__inlined{}_{}", names_made_++, each.name),
              .register_bytes = is_value ? each.size() : 0};
      write(is_value ? fmt::format(".reg .b{} {};", each.size() * kBits, name.made)
                     : fmt::format(".local .align 16 .b8 {}[{}];", name.made,
                                   std::max<std::uint64_t>(each.size(), 1)));
    }
    return true;
  }

  static std::string guard_of(const Instruction& instruction) {
    return instruction.predicate.empty()
               ? ""
               : fmt::format("@{}{} ", instruction.predicate_negated ? "!" : "",
                             instruction.predicate);
  }

  void write_instruction(const Statement& statement, const Names& names, const std::string& end) {
    const Instruction& instruction = statement.instruction;
    if (instruction.opcode == Opcode::kCall && write_call(instruction, names)) {
      return;
    }
    if (instruction.opcode == Opcode::kRet && !end.empty()) {
      write(fmt::format("{}bra {};", guard_of(instruction), end));
      return;
    }
    if (!write_move(instruction, names)) {
      // Of a part of a parameter that is a register: left as it is, and refused by who reads it.
      write(uses_register(instruction, names) ? std::string(statement.text)
                                              : renamed(statement.text, names));
    }
  }

  static bool uses_register(const Instruction& instruction, const Names& names) {
    return std::ranges::any_of(instruction.operands, [&](const Operand& operand) {
      const auto found =
          operand.elements.empty() ? names.end() : names.find(operand.elements.front().name);
      return operand.kind == Operand::Kind::kAddress && found != names.end() &&
             found->second.register_bytes != 0;
    });
  }

  // Of a parameter that is a register. Whether it is.
  bool write_move(const Instruction& instruction, const Names& names) {
    const bool is_load = instruction.opcode == Opcode::kLd;
    if ((!is_load && instruction.opcode != Opcode::kSt) || instruction.operands.size() != 2) {
      return false;
    }
    const Operand& address = instruction.operands[is_load ? 1 : 0];
    const auto found =
        address.elements.empty() ? names.end() : names.find(address.elements.front().name);
    if (found == names.end() || found->second.register_bytes == 0 ||
        !is_whole(instruction, address, found->second.register_bytes)) {
      return false;
    }
    const std::string& parameter = found->second.made;
    const std::string_view other = instruction.operands[is_load ? 0 : 1].text;
    write(fmt::format("{}mov.b{} {}, {};", guard_of(instruction), found->second.register_bytes * 8,
                      is_load ? other : parameter, is_load ? parameter : other));
    return true;
  }

  // Nothing is renamed in most statements: those stay as they are.
  static std::string renamed(std::string_view text, const Names& names) {
    bool is_changed = false;
    std::string made;
    TokenReader tokens(text);
    for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
      const auto found = names.find(token);
      is_changed = is_changed || found != names.end();
      made += found == names.end() ? token : std::string_view(found->second.made);
      made += ' ';
    }
    if (!is_changed) {
      return std::string(text);
    }
    constexpr std::string_view kParam = ".param";
    if (const std::size_t at = made.find(kParam); at != std::string::npos) {
      made.replace(at, kParam.size(), ".local");
    }
    return made;
  }

  // Whether the function stands in its place.
  bool write_call(const Instruction& call, const Names& names) {
    const Operand* const callee = callee_of(call);
    const Function* const function =
        callee == nullptr || callee->kind != Operand::Kind::kSymbol || !call.predicate.empty()
            ? nullptr
            : module_.find_function(callee->name);
    if (function == nullptr || !function->has_body || callers_.size() > kMostDepth ||
        text_.size() > kMostBytes || std::ranges::find(callers_, function) != callers_.end()) {
      return false;
    }
    std::vector<const Operand*> lists;
    for (const Operand& operand : call.operands) {
      if (operand.kind == Operand::Kind::kList) {
        lists.push_back(&operand);
      }
    }
    Names inner;
    std::size_t next = 0;
    for (const auto* const formals : {&function->returns, &function->parameters}) {
      if (formals->empty()) {
        continue;
      }
      if (next == lists.size() || !bind(*formals, *lists[next], names, inner)) {
        return false;
      }
      ++next;
    }
    write_body(*function, std::move(inner), fmt::format("$inlined_end_{}", names_made_++));
    return true;
  }

  static bool bind(const std::vector<Variable>& formals, const Operand& actuals, const Names& names,
                   Names& inner) {
    if (formals.size() != actuals.elements.size()) {
      return false;
    }
    for (std::size_t i = 0; i < formals.size(); ++i) {
      const auto known = names.find(actuals.elements[i].name);
      if (formals[i].space != StateSpace::kParam || known == names.end()) {
        return false;
      }
      inner[formals[i].name] = known->second;
    }
    return true;
  }

  const Module& module_;
  std::string text_;
  std::vector<const Function*> callers_;
  std::size_t names_made_ = 0;
};

}  // namespace

std::string inline_calls(const Module& module, const Function& entry) {
  return Inliner(module).run(entry);
}

}  // namespace barracuda::ptx
