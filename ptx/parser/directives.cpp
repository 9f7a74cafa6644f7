// The directives that StatementParser knows.
#include <algorithm>
#include <charconv>
#include <utility>

#include "ptx/parser/statement_parser.h"
#include "ptx/target_name.h"

namespace barracuda::ptx {

bool StatementParser::parse_location(Statement& statement) {
  statement.kind = StatementKind::kLocation;
  Location& location = statement.location;
  if (!cursor_.expect_number(location.file, "the file number of .loc") ||
      !cursor_.expect_number(location.line, "the line of .loc") ||
      !cursor_.expect_number(location.column, "the column of .loc")) {
    return false;
  }
  const char* last = cursor_.at();
  if (cursor_.accept(',')) {
    return parse_inlining(location);
  }
  if (!cursor_.failed()) {
    cursor_.set(last);
  }
  return !cursor_.failed();
}

// function_name label[+offset], inlined_at file line column
bool StatementParser::parse_inlining(Location& location) {
  if (!cursor_.expect_word("function_name", "function_name after ',' of .loc")) {
    return false;
  }
  location.function_label = cursor_.accept_name();
  if (location.function_label.empty()) {
    return cursor_.fail_expected("a label after function_name");
  }
  if (cursor_.accept('+') &&
      !cursor_.expect_number(location.function_offset, "an offset after '+'")) {
    return false;
  }
  return cursor_.expect(',', "',' before inlined_at") &&
         cursor_.expect_word("inlined_at", "inlined_at") &&
         cursor_.expect_number(location.inlined_file, "the file number of inlined_at") &&
         cursor_.expect_number(location.inlined_line, "the line of inlined_at") &&
         cursor_.expect_number(location.inlined_column, "the column of inlined_at");
}

bool StatementParser::parse_declaration(Statement& statement) {
  DeclarationParser::Prefix prefix;
  if (!declarations_.parse_prefix(prefix)) {
    return false;
  }
  if (!prefix.is_function) {
    statement.kind = StatementKind::kVariable;
    if (prefix.variable.space == StateSpace::kNone) {
      return cursor_.fail_expected("a state space");
    }
    return declarations_.parse_variables(prefix, statement.variables);
  }
  if (!blocks_.empty()) {
    return cursor_.fail(cursor_.at(), "a function inside of a function");
  }
  statement.kind = StatementKind::kFunction;
  statement.function = static_cast<std::uint32_t>(module_.functions.size());
  Function& function = module_.functions.emplace_back();
  if (!declarations_.parse_function(prefix, function)) {
    return false;
  }
  if (!function.has_body) {
    scopes_.close();
    return true;
  }
  expects_body_ = true;
  // The header's text ends where its last token does.
  while (character::is(cursor_.at()[-1], character::kSpace)) {
    cursor_.set(cursor_.at() - 1);
  }
  return true;
}

// .file 1 "name"[, timestamp, size]
bool StatementParser::parse_file(Statement& statement) {
  statement.kind = StatementKind::kFile;
  if (!cursor_.expect_number(statement.file_index, "the number of .file") ||
      !cursor_.expect_string(statement.file_name, "the name of .file in quotes")) {
    return false;
  }
  const char* last = cursor_.at();
  for (int i = 0; i < 2 && cursor_.accept(','); ++i) {
    cursor_.skip_space();
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(cursor_.at(), cursor_.end(), number);
    if (error != std::errc{}) {
      return cursor_.fail_expected("a number of .file");
    }
    last = stop;
    cursor_.set(stop);
  }
  if (!cursor_.failed()) {
    cursor_.set(last);
  }
  return !cursor_.failed();
}

bool StatementParser::parse_version(Statement& statement) {
  statement.kind = StatementKind::kVersion;
  if (!cursor_.expect_number(module_.version_major, "the number after .version")) {
    return false;
  }
  if (cursor_.peek() != '.') {
    return cursor_.fail_expected("'.' in the number after .version");
  }
  cursor_.advance(1);
  return cursor_.expect_number(module_.version_minor, "the number after .version");
}

bool StatementParser::parse_target(Statement& statement) {
  statement.kind = StatementKind::kTarget;
  const char* last = nullptr;
  do {
    const std::string_view name = cursor_.accept_name();
    if (name.empty()) {
      return cursor_.fail_expected("a target");
    }
    statement.targets.push_back(name);
    last = cursor_.at();
  } while (cursor_.accept(','));
  if (cursor_.failed()) {
    return false;
  }
  cursor_.set(last);
  // Of several directives the highest holds; sm_90a is more than sm_90.
  const auto rank = [](std::string_view target) {
    return std::pair(architecture_of(target), target.size());
  };
  module_.target =
      std::ranges::max(module_.target, statement.targets.front(), std::ranges::less{}, rank);
  return true;
}

bool StatementParser::parse_address_size(Statement& statement) {
  statement.kind = StatementKind::kAddressSize;
  std::uint32_t bits = 0;
  return cursor_.expect_number(bits, "the number of bits after .address_size");
}

bool StatementParser::parse_section(Statement& statement) {
  statement.kind = StatementKind::kSection;
  cursor_.skip_space();
  const char* start = cursor_.at();
  if (cursor_.accept_dot_word().empty() && cursor_.accept_name().empty()) {
    return cursor_.fail_expected("the name of a section");
  }
  statement.label = cursor_.since(start);
  cursor_.skip_space();
  return cursor_.peek() == '{' ? cursor_.skip_group('{', '}')
                               : cursor_.fail_expected("'{' of a section");
}

bool StatementParser::parse_pragma(Statement& statement) {
  statement.kind = StatementKind::kPragma;
  std::string_view text;
  do {
    if (!cursor_.expect_string(text, "a string after .pragma")) {
      return false;
    }
  } while (cursor_.accept(','));
  return cursor_.expect(';', "';' after .pragma");
}

bool StatementParser::parse_name_list(Statement& statement) {
  do {
    const std::string_view name = cursor_.accept_name();
    if (name.empty()) {
      return cursor_.fail_expected("a name in the list of targets");
    }
    statement.targets.push_back(name);
  } while (cursor_.accept(','));
  return cursor_.expect(';', "';' after a list of targets");
}

bool StatementParser::parse_prototype(Statement& statement) {
  statement.kind = StatementKind::kCallPrototype;
  return declarations_.parse_prototype(statement.returns, statement.parameters);
}

// A directive we do not know: up to its ';', or over its braces.
bool StatementParser::parse_other(Statement& statement) {
  statement.kind = StatementKind::kOther;
  while (true) {
    cursor_.skip_space();
    if (cursor_.at_end()) {
      return cursor_.fail_expected("';' or '{' after a directive");
    }
    std::string_view text;
    switch (cursor_.peek()) {
      case ';':
        cursor_.advance(1);
        return true;
      case '{':
        return cursor_.skip_group('{', '}');
      case '(':
        if (!cursor_.skip_group('(', ')')) {
          return false;
        }
        break;
      case '"':
        if (!cursor_.expect_string(text, "a string")) {
          return false;
        }
        break;
      case '}':
        return cursor_.fail_expected("';' after a directive");
      default:
        cursor_.advance(1);
        break;
    }
  }
}

}  // namespace barracuda::ptx
