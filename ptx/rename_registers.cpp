#include "ptx/rename_registers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "base/assert.h"
#include "ptx/link/rename_symbols.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

// The registers that a function declares, and which names are those of several.
class Declarations {
 public:
  Declarations(const Module& module, const Function& function) {
    for (std::size_t i = function.body_begin; i <= function.body_end; ++i) {
      for (const Variable& variable : module.statements[i].variables) {
        if (variable.space == StateSpace::kReg) {
          add(variable);
        }
      }
    }
  }

  // Some are, and so registers have to be renamed.
  [[nodiscard]] bool have_shared() const {
    return std::ranges::any_of(all_,
                               [&](const auto& one) { return is_shared(one.first, one.second); });
  }

  [[nodiscard]] bool is_shared(std::string_view name, std::uint32_t range) const {
    return times_.at(name) > 1 || (range != 0 ? has_single_of(name) : is_of_range(name));
  }

 private:
  void add(const Variable& variable) {
    all_.emplace_back(variable.name, variable.range);
    ++times_[variable.name];
    if (variable.range != 0) {
      ranges_[variable.name] = std::max(ranges_[variable.name], variable.range);
    }
  }

  // %r12 of %r<20>; it may be number 2 of %r1<5> as well.
  [[nodiscard]] bool is_of_range(std::string_view name) const {
    for (std::size_t length = name.size() - 1; length > 0 && is_digit(name[length]); --length) {
      const auto range = ranges_.find(name.substr(0, length));
      std::uint32_t number = 0;
      std::from_chars(name.data() + length, name.data() + name.size(), number);
      if (range != ranges_.end() && number < range->second) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool has_single_of(std::string_view range) const {
    return std::ranges::any_of(all_, [&](const auto& other) {
      return other.second == 0 && other.first.starts_with(range) && is_of_range(other.first);
    });
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::vector<std::pair<std::string_view, std::uint32_t>> all_;  // names, of ranges with how many
  boost::unordered_flat_map<std::string_view, std::uint32_t> times_, ranges_;
};

class Renamer {
 public:
  Renamer(Module& module, const Function& function)
      : module_(module), function_(function), declarations_(module, function) {}

  Expected<void> run() {
    if (!declarations_.have_shared()) {
      return {};
    }
    std::vector<Renames> scopes;
    for (std::size_t i = function_.body_begin; i <= function_.body_end; ++i) {
      const StatementKind kind = module_.statements[i].kind;
      if (kind == StatementKind::kBlockOpen) {
        scopes.push_back(scopes.empty() ? Renames() : scopes.back());
        ++blocks_;
      } else if (kind == StatementKind::kBlockClose) {
        scopes.pop_back();
      } else if (kind == StatementKind::kVariable || kind == StatementKind::kInstruction) {
        declare(module_.statements[i], scopes.size() == 1, scopes.back());
        if (auto done = rename(module_.statements[i], scopes.back()); !done) {
          return done;
        }
      }
    }
    return {};
  }

 private:
  // The function's own keep their names. But a statement by itself is read without what was
  // declared before it: there, what has no % is no register.
  void declare(const Statement& statement, bool is_outermost, Renames& renames) const {
    for (const Variable& variable : statement.variables) {
      if (variable.space != StateSpace::kReg) {
        renames.erase(variable.name);
        continue;
      }
      const bool has_percent = variable.name.starts_with('%');
      if (has_percent &&
          (is_outermost || !declarations_.is_shared(variable.name, variable.range))) {
        continue;
      }
      const std::string made = fmt::format("%{}__{}{}", variable.name.substr(has_percent ? 1 : 0),
                                           blocks_, variable.range != 0 ? "_" : "");
      renames[variable.name] = made;
      for (std::uint32_t number = 0; number < variable.range; ++number) {
        renames[module_.own(fmt::format("{}{}", variable.name, number))] =
            fmt::format("{}{}", made, number);
      }
    }
  }

  Expected<void> rename(Statement& statement, const Renames& renames) {
    if (renames.empty()) {
      return {};
    }
    std::string text = rename_symbols(statement.text, renames, statement.instruction.mnemonic);
    if (text == statement.text) {
      return {};
    }
    TRY(std::vector<Statement> renamed, parse_statements(module_, std::move(text)));
    ASSERT(renamed.size() == 1);
    renamed[0].position = statement.position;
    statement = std::move(renamed[0]);
    return {};
  }

  Module& module_;
  const Function& function_;
  const Declarations declarations_;
  std::uint32_t blocks_ = 0;
};

}  // namespace

Expected<void> rename_registers(Module& module) {
  for (const Function& function : std::vector(module.functions)) {
    if (function.has_body) {
      if (auto renamed = Renamer(module, function).run(); !renamed) {
        return renamed;
      }
    }
  }
  return {};
}

}  // namespace barracuda::ptx
