#include "ptx/split.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include "base/assert.h"
#include "ptx/analysis/program.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

using Names = boost::unordered_flat_set<std::string_view>;

// Of module scope.
enum class VariableKind : std::uint8_t {
  kAddressed,  // in global memory: one instance, whose address a part looks up
  kCopied,     // a literal of the compiler's, or shared memory: each part has its own
  kFixed,      // what mentions it stays in the base
};

struct ModuleVariable {
  VariableKind kind = VariableKind::kFixed;
  std::string_view what;  // kFixed: which kind of memory it is in
};

// What a function's code mentions. `refusal` says why nothing that reaches it can stand alone.
struct FunctionUse {
  Names called, addressed;  // functions
  Names variables;
  std::string refusal;
};

// A variable in an instruction's text: the bytes that the register of its address takes.
struct Mention {
  std::string_view text;
  std::size_t place = 0;  // in the table
  std::int64_t offset = 0;
};

// The text of a string that the program prints or asserts by: the driver may want it where the code
// is, and nobody writes it.
bool is_literal(const Variable& variable) {
  const bool is_named_so =
      variable.name.starts_with("$str") || variable.name.starts_with("__unnamed_");
  return is_named_so && !variable.is_visible && !variable.initializer.empty() &&
         std::ranges::none_of(variable.initializer, [](const Operand& value) {
           return value.kind == Operand::Kind::kSymbol;
         });
}

ModuleVariable classify(const Variable& variable) {
  if (variable.space == StateSpace::kShared) {
    return {.kind = VariableKind::kCopied, .what = {}};
  }
  if (variable.space == StateSpace::kConst) {
    return {.what = "constant memory"};
  }
  // .texref and its kin have no type that arithmetic knows.
  if (variable.space != StateSpace::kGlobal || variable.type == ScalarType::kNone ||
      variable.is_extern) {
    return {.what = "memory that has no address"};
  }
  return {.kind = is_literal(variable) ? VariableKind::kCopied : VariableKind::kAddressed,
          .what = {}};
}

bool is_head(StatementKind kind) {
  return kind == StatementKind::kVersion || kind == StatementKind::kTarget ||
         kind == StatementKind::kAddressSize;
}

class Text final : public SplitModule {
 public:
  explicit Text(Module module) : module_(std::move(module)) {}

  Expected<void> analyse() {
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i) {
      const Function& function = module_.functions[i];
      if (function.has_body) {
        definitions_.insert_or_assign(function.name, i);
      }
      functions_.insert(function.name);
    }
    std::size_t depth = 0;
    for (const Statement& statement : module_.statements) {
      depth += statement.kind == StatementKind::kBlockOpen ? 1 : 0;
      depth -= statement.kind == StatementKind::kBlockClose ? 1 : 0;
      if (depth == 0) {
        if (auto read = read_at_module_scope(statement); !read) {
          return read;
        }
      }
    }
    uses_.resize(module_.functions.size());
    for (const auto& [name, index] : definitions_) {
      read_body(module_.functions[index], uses_[index]);
    }
    for (const Function& function : module_.functions) {
      if (function.is_entry && function.has_body) {
        choose(function.name);
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t part_count() const override { return alone_.size(); }

  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& whole() const override {
    return whole_;
  }

  [[nodiscard]] bool has_part(std::string_view kernel) const override {
    return alone_.contains(kernel);
  }

  [[nodiscard]] std::string base() const override {
    Names kept;
    for (const auto& [kernel, reason] : whole_) {
      reach(kernel, kept);
    }
    for (const std::string_view name : initialised_with_) {
      reach(name, kept);
    }
    std::string text;
    for (std::size_t i = 0; i < module_.statements.size(); ++i) {
      const Statement& statement = module_.statements[i];
      if (statement.kind != StatementKind::kFunction) {
        append(text, is_hidden_variable(statement) ? ".visible " : "", statement);
        continue;
      }
      const Function& function = module_.functions[statement.function];
      if (alone_.contains(function.name)) {
        append(text, "", statement);
        text += function.has_body ? "{\nret;\n}\n" : "";
      } else if (kept.contains(function.name) || !definitions_.contains(function.name)) {
        for (std::size_t part = i; part <= end_of(function, i); ++part) {
          append(text, "", module_.statements[part]);
        }
      }
      i = end_of(function, i);
    }
    return text;
  }

  [[nodiscard]] KernelPart part(std::string_view kernel) const override {
    ASSERT(has_part(kernel));
    Names kept;
    reach(kernel, kept);
    Names used;
    for (const std::string_view name : kept) {
      if (const auto found = definitions_.find(name); found != definitions_.end()) {
        const Names& variables = uses_[found->second].variables;
        used.insert(variables.begin(), variables.end());
      }
    }
    KernelPart part;
    Places places;
    for (const std::string_view name : used) {
      if (variables_.at(name).kind == VariableKind::kAddressed) {
        part.variables.emplace_back(name);
      }
    }
    std::ranges::sort(part.variables);
    for (std::size_t i = 0; i < part.variables.size(); ++i) {
      places.emplace(part.variables[i], i);
    }
    bool has_table = part.variables.empty();
    for (std::size_t i = 0; i < module_.statements.size(); ++i) {
      const Statement& statement = module_.statements[i];
      if (!is_head(statement.kind) && !std::exchange(has_table, true)) {
        part.text += fmt::format(".visible .const .align 8 .u64 {}[{}];\n", kAddressTable,
                                 part.variables.size());
      }
      if (statement.kind == StatementKind::kFunction) {
        const Function& function = module_.functions[statement.function];
        const std::size_t end = end_of(function, i);
        for (std::size_t at = i; kept.contains(function.name) && at <= end; ++at) {
          append_relocated(part.text, module_.statements[at], places);
        }
        i = end;
      } else if (statement.kind != StatementKind::kVariable || is_copied(statement, used)) {
        append(part.text, "", statement);
      }
    }
    return part;
  }

 private:
  using Places = boost::unordered_flat_map<std::string_view, std::size_t>;  // in the table

  static void append(std::string& text, std::string_view before, const Statement& statement) {
    text += before;
    text += statement.text;
    text += '\n';
  }

  // The last statement of a function whose header is at `header`.
  static std::size_t end_of(const Function& function, std::size_t header) {
    return function.has_body ? function.body_end : header;
  }

  Expected<void> read_at_module_scope(const Statement& statement) {
    const bool has_line_tables_only =
        statement.kind != StatementKind::kSection || statement.label == ".debug_str";
    if (statement.kind == StatementKind::kOther || !has_line_tables_only) {
      // An alias, or debug information, which holds offsets into the whole text.
      return unexpected(
          {.message =
               fmt::format("it has \"{}\"", statement.text.substr(0, statement.text.find('\n')))});
    }
    for (const Variable& variable : statement.variables) {
      if (statement.kind != StatementKind::kVariable) {
        continue;
      }
      variables_.insert_or_assign(variable.name, classify(variable));
      for (const Operand& value : variable.initializer) {
        if (functions_.contains(value.name)) {
          initialised_with_.insert(value.name);
        }
      }
    }
    return {};
  }

  // Only the first is reported.
  static void refuse(FunctionUse& use, std::string reason) {
    if (use.refusal.empty()) {
      use.refusal = std::move(reason);
    }
  }

  void read_body(const Function& function, FunctionUse& use) const {
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      const Statement& statement = module_.statements[i];
      for (const Variable& variable : statement.variables) {
        if (variables_.contains(variable.name) || variable.space == StateSpace::kGlobal ||
            variable.space == StateSpace::kConst) {
          refuse(use, fmt::format("{} declares {} itself", function.name, variable.name));
        }
      }
      if (statement.kind == StatementKind::kInstruction) {
        read_instruction(function, statement.instruction, use);
      } else if (statement.kind == StatementKind::kCallTargets ||
                 statement.kind == StatementKind::kCallPrototype) {
        refuse(use, fmt::format("{} calls by an address", function.name));
      } else if (statement.kind == StatementKind::kOther ||
                 statement.kind == StatementKind::kSection) {
        refuse(use, fmt::format("{} has \"{}\"", function.name, statement.text));
      }
    }
  }

  void read_instruction(const Function& function, const Instruction& instruction,
                        FunctionUse& use) const {
    const Operand* const callee =
        instruction.opcode == Opcode::kCall ? callee_of(instruction) : nullptr;
    if (callee != nullptr && callee->kind != Operand::Kind::kSymbol) {
      refuse(use, fmt::format("{} calls by an address", function.name));
    } else if (callee != nullptr) {
      use.called.insert(callee->name);
    }
    for (const Operand& operand : instruction.operands) {
      if (&operand != callee) {
        read_operand(function, operand, Nesting::kOperand, use);
      }
    }
  }

  enum class Nesting : std::uint8_t { kOperand, kAddress, kDeeper };

  // Where a register may stand for the variable: as an address, [v+4], or as a whole operand, v.
  void read_operand(const Function& function, const Operand& operand, Nesting nesting,
                    FunctionUse& use) const {
    if (operand.kind == Operand::Kind::kSymbol && functions_.contains(operand.name)) {
      use.addressed.insert(operand.name);
      refuse(use, fmt::format("{} takes the address of {}", function.name, operand.name));
    } else if (operand.kind == Operand::Kind::kSymbol) {
      read_variable(function, operand, nesting, use);
    }
    for (std::size_t i = 0; i < operand.elements.size(); ++i) {
      const bool is_base =
          operand.kind == Operand::Kind::kAddress && i == 0 && nesting == Nesting::kOperand;
      read_operand(function, operand.elements[i], is_base ? Nesting::kAddress : Nesting::kDeeper,
                   use);
    }
  }

  void read_variable(const Function& function, const Operand& operand, Nesting nesting,
                     FunctionUse& use) const {
    const auto found = variables_.find(operand.name);
    if (found == variables_.end()) {
      return;  // a label, a parameter, a variable of its own
    }
    use.variables.insert(operand.name);
    const bool may_be_register = nesting != Nesting::kDeeper && operand.elements.empty() &&
                                 operand.component.empty() && !operand.negated;
    if (found->second.kind == VariableKind::kFixed) {
      refuse(use, fmt::format("{} uses {}, which is in {}", function.name, operand.name,
                              found->second.what));
    } else if (found->second.kind == VariableKind::kAddressed && !may_be_register) {
      refuse(use, fmt::format("{} mentions {} where no register may stand", function.name,
                              operand.name));
    }
  }

  // A function with all that it may call; declarations too.
  void reach(std::string_view start, Names& reached) const {
    std::vector<std::string_view> waiting{start};
    while (!waiting.empty()) {
      const std::string_view name = waiting.back();
      waiting.pop_back();
      const auto found = definitions_.find(name);
      if (!reached.insert(name).second || found == definitions_.end()) {
        continue;
      }
      const FunctionUse& use = uses_[found->second];
      waiting.insert(waiting.end(), use.called.begin(), use.called.end());
      waiting.insert(waiting.end(), use.addressed.begin(), use.addressed.end());
    }
  }

  void choose(std::string_view kernel) {
    Names reached;
    reach(kernel, reached);
    for (const std::string_view name : reached) {
      const auto found = definitions_.find(name);
      if (found != definitions_.end() && !uses_[found->second].refusal.empty()) {
        whole_.emplace(kernel, uses_[found->second].refusal);
        return;
      }
    }
    if (is_mentioned(kernel)) {
      whole_.emplace(kernel, "its address is taken");
      return;
    }
    alone_.insert(kernel);
  }

  // By code or by a variable's initialiser: kernels that kernels launch.
  [[nodiscard]] bool is_mentioned(std::string_view kernel) const {
    return initialised_with_.contains(kernel) ||
           std::ranges::any_of(
               uses_, [&](const FunctionUse& use) { return use.addressed.contains(kernel); });
  }

  // The host has to find it by its name.
  [[nodiscard]] bool is_hidden_variable(const Statement& statement) const {
    return statement.kind == StatementKind::kVariable && statement.variables.size() == 1 &&
           variables_.contains(statement.variables[0].name) &&
           variables_.at(statement.variables[0].name).kind == VariableKind::kAddressed &&
           !statement.variables[0].is_visible && !statement.variables[0].is_weak &&
           !statement.variables[0].is_common;
  }

  [[nodiscard]] bool is_copied(const Statement& statement, const Names& used) const {
    return std::ranges::any_of(statement.variables, [&](const Variable& variable) {
      return used.contains(variable.name) &&
             variables_.at(variable.name).kind == VariableKind::kCopied;
    });
  }

  static void find_mentions(const Operand& operand, const Places& places,
                            std::vector<Mention>& mentions) {
    const bool is_address = operand.kind == Operand::Kind::kAddress && !operand.elements.empty();
    const Operand& symbol = is_address ? operand.elements[0] : operand;
    const auto found =
        symbol.kind == Operand::Kind::kSymbol ? places.find(symbol.name) : places.end();
    if (found != places.end()) {
      // The offset of an address stands behind the register as it stood behind the variable.
      mentions.push_back({.text = is_address ? symbol.name : symbol.text,
                          .place = found->second,
                          .offset = is_address ? 0 : symbol.offset});
    }
  }

  // With registers that hold the addresses in place of the variables.
  static void append_relocated(std::string& text, const Statement& statement,
                               const Places& places) {
    std::vector<Mention> mentions;
    if (statement.kind == StatementKind::kInstruction) {
      for (const Operand& operand : statement.instruction.operands) {
        find_mentions(operand, places, mentions);
      }
    }
    if (mentions.empty()) {
      append(text, "", statement);
      return;
    }
    constexpr std::size_t kAddressBytes = 8;
    std::string loads, code;
    std::size_t at = 0;
    for (std::size_t i = 0; i < mentions.size(); ++i) {
      const Mention& mention = mentions[i];
      const auto begin = static_cast<std::size_t>(mention.text.data() - statement.text.data());
      ASSERT(begin >= at && begin + mention.text.size() <= statement.text.size());
      code += statement.text.substr(at, begin - at);
      code += fmt::format("%__barracuda_v{}", i);
      at = begin + mention.text.size();
      loads +=
          fmt::format(".reg .b64 %__barracuda_v{0};\nld.const.u64 %__barracuda_v{0}, [{1}+{2}];\n",
                      i, kAddressTable, mention.place * kAddressBytes);
      if (mention.offset != 0) {
        loads +=
            fmt::format("add.s64 %__barracuda_v{0}, %__barracuda_v{0}, {1};\n", i, mention.offset);
      }
    }
    code += statement.text.substr(at);
    text += fmt::format("{{\n{}{}\n}}\n", loads, code);
  }

  Module module_;
  boost::unordered_flat_map<std::string_view, std::uint32_t> definitions_;
  Names functions_;  // declarations too
  boost::unordered_flat_map<std::string_view, ModuleVariable> variables_;
  Names initialised_with_;         // functions that a variable's initialiser names
  std::vector<FunctionUse> uses_;  // by index into Module::functions
  Names alone_;
  std::map<std::string, std::string, std::less<>> whole_;
};

}  // namespace

Expected<std::unique_ptr<const SplitModule>> SplitModule::read(std::string text) {
  TRY(Module module, parse(std::move(text)));
  auto made = std::make_unique<Text>(std::move(module));
  if (auto analysed = made->analyse(); !analysed) {
    return unexpected(std::move(analysed).error());
  }
  return made;
}

}  // namespace barracuda::ptx
