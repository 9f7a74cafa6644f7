#include "ptx/link.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include "ptx/link/link_symbols.h"
#include "ptx/link/rename_symbols.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

// Writes several units as one text. The order of PTX is declaration before use, so functions are
// declared first, variables come next, each after what its initialiser names, and the bodies last.
class Linker {
 public:
  Linker(const std::vector<Module>& modules, std::vector<std::vector<LinkSymbol>> symbols,
         const Definitions& definitions)
      : modules_(modules), symbols_(std::move(symbols)), definitions_(definitions) {}

  std::string write() {
    choose_renames();
    number_files();
    write_head();
    write_declarations();
    for (const auto& symbols : symbols_) {
      for (const LinkSymbol& symbol : symbols) {
        if (symbol.variable != nullptr) {
          write_variable(symbol);
        }
      }
    }
    for (std::size_t unit = 0; unit < modules_.size(); ++unit) {
      write_functions(unit);
    }
    write_debug();
    return std::move(text_);
  }

 private:
  template <typename... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  // A name local to a unit stays unless another unit has the same name.
  void choose_renames() {
    boost::unordered_flat_map<std::string_view, std::size_t> first_unit;
    for (const auto& [name, definition] : definitions_) {
      first_unit.emplace(name, modules_.size());
    }
    renames_.resize(modules_.size());
    for (std::size_t unit = 0; unit < modules_.size(); ++unit) {
      for (const LinkSymbol& symbol : symbols_[unit]) {
        if (symbol.is_local && first_unit.emplace(symbol.name, unit).first->second != unit) {
          renames_[unit].insert_or_assign(symbol.name,
                                          fmt::format("{}__unit{}", symbol.name, unit));
        }
      }
      if (unit > 0) {
        rename_labels(unit);
      }
    }
  }

  // Labels of debug sections are of module scope.
  void rename_labels(std::size_t unit) {
    for (const Statement& statement : modules_[unit].statements) {
      const std::string_view label = statement.location.function_label;
      if (statement.kind == StatementKind::kLocation && !label.empty()) {
        renames_[unit].try_emplace(label, fmt::format("{}_unit{}", label, unit));
      }
    }
  }

  void number_files() {
    files_.resize(modules_.size());
    boost::unordered_flat_map<std::string_view, std::uint32_t> numbers;
    for (std::size_t unit = 0; unit < modules_.size(); ++unit) {
      for (const Statement& statement : modules_[unit].statements) {
        if (statement.kind == StatementKind::kFile) {
          const auto [found, is_new] =
              numbers.emplace(statement.file_name, static_cast<std::uint32_t>(numbers.size() + 1));
          files_[unit].insert_or_assign(statement.file_index, found->second);
          if (is_new) {
            file_names_.push_back(statement.file_name);
          }
        }
      }
    }
  }

  void write_head() {
    const auto& newest = *std::ranges::max_element(modules_, {}, [](const Module& module) {
      return std::pair(module.version_major, module.version_minor);
    });
    // sm_90a is more than sm_90.
    const auto& highest = *std::ranges::max_element(modules_, {}, [](const Module& module) {
      return std::pair(module.target_arch(), module.target.size());
    });
    print(".version {}.{}\n.target {}\n.address_size 64\n", newest.version_major,
          newest.version_minor, highest.target);
  }

  [[nodiscard]] bool is_chosen(const LinkSymbol& symbol) const {
    if (!symbol.is_definition || symbol.is_local) {
      return symbol.is_definition;
    }
    return definitions_.at(symbol.name) == &symbol;
  }

  [[nodiscard]] std::string renamed(std::size_t unit, const Statement& statement) const {
    return renames_[unit].empty()
               ? std::string(statement.text)
               : rename_symbols(statement.text, renames_[unit], statement.instruction.mnemonic);
  }

  void write_declarations() {
    boost::unordered_flat_set<std::string_view> declared;
    for (const auto& symbols : symbols_) {
      for (const LinkSymbol& symbol : symbols) {
        if (symbol.function == nullptr || symbol.function->is_entry) {
          continue;
        }
        const Statement& header = modules_[symbol.unit].statements[symbol.statement];
        if (is_chosen(symbol)) {
          print("{};\n", renamed(symbol.unit, header));
        } else if (!symbol.is_definition && symbol.function->is_extern &&
                   !definitions_.contains(symbol.name) && declared.insert(symbol.name).second) {
          print("{}\n", header.text);
        }
      }
    }
  }

  void write_variable(const LinkSymbol& symbol) {
    const bool is_declaration = !symbol.is_definition && !definitions_.contains(symbol.name);
    if (!is_chosen(symbol) && !(is_declaration && is_widest(symbol))) {
      return;
    }
    const auto key = std::pair(symbol.unit, symbol.statement);
    if (!written_.insert(key).second) {
      return;
    }
    const Statement& statement = modules_[symbol.unit].statements[symbol.statement];
    for (const Variable& variable : statement.variables) {
      for (const Operand& value : variable.initializer) {
        if (const auto found = definitions_.find(value.name);
            found != definitions_.end() && found->second->variable != nullptr) {
          write_variable(*found->second);
        }
      }
    }
    print("{}\n", renamed(symbol.unit, statement));
  }

  // Of several declarations of dynamic shared memory the one with the widest alignment stays.
  [[nodiscard]] bool is_widest(const LinkSymbol& symbol) const {
    bool seen = false;
    for (const auto& symbols : symbols_) {
      for (const LinkSymbol& other : symbols) {
        seen = seen || &other == &symbol;
        if (other.variable == nullptr || other.name != symbol.name || &other == &symbol) {
          continue;
        }
        if (other.variable->align > symbol.variable->align ||
            (!seen && other.variable->align == symbol.variable->align)) {
          return false;
        }
      }
    }
    return true;
  }

  void write_functions(std::size_t unit) {
    const auto& statements = modules_[unit].statements;
    auto symbol = symbols_[unit].begin();
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const Statement& statement = statements[i];
      if (statement.kind == StatementKind::kFunction) {
        symbol = std::find_if(symbol, symbols_[unit].end(), [&](const LinkSymbol& candidate) {
          return candidate.statement == i;
        });
        const std::size_t end = symbol->is_definition ? symbol->function->body_end : i;
        for (std::size_t part = i; is_chosen(*symbol) && part <= end; ++part) {
          write_statement(unit, statements[part]);
        }
        i = end;
      } else if (statement.kind == StatementKind::kPragma ||
                 statement.kind == StatementKind::kOther) {
        write_statement(unit, statement);
      }
    }
  }

  void write_statement(std::size_t unit, const Statement& statement) {
    if (statement.kind != StatementKind::kLocation) {
      print("{}\n", renamed(unit, statement));
      return;
    }
    const Location& location = statement.location;
    print(".loc {} {} {}", file_of(unit, location.file), location.line, location.column);
    if (!location.function_label.empty()) {
      const auto label = renames_[unit].find(location.function_label);
      print(", function_name {}", label == renames_[unit].end() ? location.function_label
                                                                : std::string_view(label->second));
      if (location.function_offset != 0) {
        print("+{}", location.function_offset);
      }
      print(", inlined_at {} {} {}", file_of(unit, location.inlined_file), location.inlined_line,
            location.inlined_column);
    }
    text_ += '\n';
  }

  [[nodiscard]] std::uint32_t file_of(std::size_t unit, std::uint32_t file) const {
    const auto found = files_[unit].find(file);
    return found == files_[unit].end() ? file : found->second;
  }

  // Line tables and the names of inlined functions are kept; other debug sections hold offsets into
  // their unit and are not.
  void write_debug() {
    for (std::size_t i = 0; i < file_names_.size(); ++i) {
      print(".file {} \"{}\"\n", i + 1, file_names_[i]);
    }
    std::string strings;
    for (std::size_t unit = 0; unit < modules_.size(); ++unit) {
      for (const Statement& statement : modules_[unit].statements) {
        if (statement.kind == StatementKind::kSection && statement.label == ".debug_str") {
          const std::string text = renamed(unit, statement);
          const std::size_t open = text.find('{') + 1;
          strings += text.substr(open, text.rfind('}') - open);
        }
      }
    }
    if (!strings.empty()) {
      print(".section .debug_str\n{{{}}}\n", strings);
    }
  }

  const std::vector<Module>& modules_;
  std::vector<std::vector<LinkSymbol>> symbols_;
  const Definitions& definitions_;
  std::vector<Renames> renames_;                                                // by unit
  std::vector<boost::unordered_flat_map<std::uint32_t, std::uint32_t>> files_;  // by unit
  std::vector<std::string_view> file_names_;
  boost::unordered_flat_set<std::pair<std::size_t, std::size_t>> written_;  // unit, statement
  std::string text_;
};

}  // namespace

Expected<Module> link(std::vector<Module> units) {
  if (units.empty()) {
    return unexpected({.message = "there is no PTX to link"});
  }
  std::vector<std::vector<LinkSymbol>> symbols;
  symbols.reserve(units.size());
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    symbols.push_back(read_symbols(units[unit], unit));
  }
  TRY(const Definitions definitions, choose_definitions(symbols));
  if (auto resolved = check_resolved(symbols, definitions); !resolved) {
    return unexpected(std::move(resolved).error());
  }
  if (units.size() == 1) {
    return std::move(units.front());
  }
  return parse(Linker(units, std::move(symbols), definitions).write());
}

}  // namespace barracuda::ptx
