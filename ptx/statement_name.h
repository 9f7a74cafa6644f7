// Which instruction of a program is meant, whatever line it stands on: FUNCTION#ORDINAL. The
// function is named as in the linked module (link.h): by its own name, but for a name that is local
// to a translation unit and that an earlier unit has too, which is followed by __unit and the
// unit's number. The ordinal counts the instructions of its body in the order of the text, from 1,
// as they were parsed: what a pass or an edit inserts does not count. So a name holds as long as
// the program is compiled to the same PTX.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

struct StatementName {
  std::string function;  // mangled
  std::uint32_t ordinal = 0;

  friend auto operator<=>(const StatementName&, const StatementName&) = default;
};

std::string to_string(const StatementName& name);
// Errors: a text that is not FUNCTION#ORDINAL.
Expected<StatementName> parse_statement_name(std::string_view text);

// The instructions of a module by their names; holds until statements are inserted or erased.
class StatementIndex {
 public:
  explicit StatementIndex(const Module& module) : module_(module) {}

  // Null: there is no definition of that name.
  [[nodiscard]] const Function* function_of(const StatementName& name) const;
  // Into Module::statements; none: its function has fewer instructions, or is not defined here.
  std::optional<std::size_t> find(const StatementName& name);

 private:
  const Module& module_;
  // By function, of those that were asked for: where its instructions stand.
  std::map<std::string, std::vector<std::size_t>, std::less<>> instructions_;
};

}  // namespace barracuda::ptx
