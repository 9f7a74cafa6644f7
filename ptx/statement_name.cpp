#include "ptx/statement_name.h"

#include <algorithm>

#include "base/number_text.h"
#include "base/text_words.h"
#include "ptx/parser/cursor.h"

namespace barracuda::ptx {
namespace {

bool may_stand_in_a_name(char c) {
  return character::is(c, character::kName | character::kNameStart);
}

}  // namespace

std::string to_string(const StatementName& name) {
  return name.function + "#" + std::to_string(name.ordinal);
}

Expected<StatementName> parse_statement_name(std::string_view text) {
  const std::size_t mark = std::min(text.find('#'), text.size());
  const std::string_view function = text.substr(0, mark);
  const std::string_view digits = text.substr(std::min(mark + 1, text.size()));
  const auto ordinal = parse_number<decltype(StatementName::ordinal)>(digits).value_or(0);
  if (function.empty() || !std::ranges::all_of(function, may_stand_in_a_name) || ordinal == 0) {
    return unexpected({.message = quote(text) +
                                  " is not FUNCTION#STATEMENT, a function's mangled name and the "
                                  "number of one of its instructions"});
  }
  return StatementName{.function = std::string(function), .ordinal = ordinal};
}

const Function* StatementIndex::function_of(const StatementName& name) const {
  const Function* const function = module_.find_function(name.function);
  return function != nullptr && function->has_body ? function : nullptr;
}

std::optional<std::size_t> StatementIndex::find(const StatementName& name) {
  auto known = instructions_.find(name.function);
  if (known == instructions_.end()) {
    std::vector<std::size_t> found;
    if (const Function* const function = function_of(name)) {
      for (std::size_t i = function->body_begin; i < function->body_end; ++i) {
        if (module_.statements[i].kind == StatementKind::kInstruction) {
          found.push_back(i);
        }
      }
    }
    known = instructions_.emplace(name.function, std::move(found)).first;
  }
  const std::vector<std::size_t>& of_function = known->second;
  if (name.ordinal == 0 || name.ordinal > of_function.size()) {
    return std::nullopt;
  }
  return of_function[name.ordinal - 1];
}

}  // namespace barracuda::ptx
