#include "ptx/parser/declaration_parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "ptx/parser/constant_expression.h"

namespace barracuda::ptx {

namespace {

// A list may be padded where inner lists are short; more elements than this are no real program.
constexpr std::uint64_t kMaximumElements = std::uint64_t{1} << 20;
constexpr std::size_t kMaximumDimensions = 16;

struct SpaceWord {
  std::string_view word;
  StateSpace space;
};

constexpr auto kSpaces = std::to_array<SpaceWord>({
    {.word = "reg", .space = StateSpace::kReg},
    {.word = "param", .space = StateSpace::kParam},
    {.word = "shared", .space = StateSpace::kShared},
    {.word = "global", .space = StateSpace::kGlobal},
    {.word = "local", .space = StateSpace::kLocal},
    {.word = "const", .space = StateSpace::kConst},
    {.word = "tex", .space = StateSpace::kTex},
    {.word = "sreg", .space = StateSpace::kSreg},
    {.word = "param::entry", .space = StateSpace::kParam},
    {.word = "param::func", .space = StateSpace::kParam},
});

StateSpace parse_space(std::string_view word) {
  const auto* found = std::ranges::find(kSpaces, word, &SpaceWord::word);
  return found == kSpaces.end() ? StateSpace::kNone : found->space;
}

bool is_opaque_type(std::string_view word) {
  return word == "texref" || word == "samplerref" || word == "surfref";
}

// The numbers of "32, 4"; what is missing is 1.
Extent parse_extent(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  Extent extent;
  for (std::uint32_t* const number : {&extent.x, &extent.y, &extent.z}) {
    text.remove_prefix(std::min(text.find_first_of(kDigits), text.size()));
    *number = take_number<std::uint32_t>(text).value_or(*number);
  }
  return extent;
}

LaunchBounds read_bounds(const std::vector<std::string_view>& attributes) {
  LaunchBounds bounds;
  for (const std::string_view attribute : attributes) {
    const std::string_view name =
        attribute.substr(0, attribute.find_first_of(" \t\r\n/0123456789"));
    const std::string_view numbers = attribute.substr(name.size());
    if (name == ".maxntid") {
      bounds.max_block = parse_extent(numbers);
    } else if (name == ".reqntid") {
      bounds.required_block = parse_extent(numbers);
    } else if (name == ".reqnctapercluster") {
      bounds.required_cluster = parse_extent(numbers);
    }
  }
  return bounds;
}

}  // namespace

bool DeclarationParser::parse_prefix(Prefix& prefix) {
  while (true) {
    cursor_.skip_space();
    const char* where = cursor_.at();
    const std::string_view word = cursor_.accept_dot_word();
    if (word.empty()) {
      return !cursor_.failed();
    }
    if (word == "entry" || word == "func") {
      prefix.is_function = true;
      prefix.is_entry = word == "entry";
      return true;
    }
    if (!apply_prefix_word(word, where, prefix)) {
      return false;
    }
  }
}

bool DeclarationParser::apply_prefix_word(std::string_view word, const char* where,
                                          Prefix& prefix) {
  Variable& variable = prefix.variable;
  if (const StateSpace space = parse_space(word); space != StateSpace::kNone) {
    variable.space = space;
    cursor_.skip_space();
    return cursor_.peek() != '[' || cursor_.skip_group('[', ']');  // .const[2]
  }
  if (const ScalarType type = type_of(find_modifier(word)); type != ScalarType::kNone) {
    variable.type = type;
  } else if (word == "align") {
    return cursor_.expect_number(variable.align, "the number of bytes after .align");
  } else if (word == "v2" || word == "v4" || word == "v8") {
    variable.vector = static_cast<std::uint8_t>(word[1] - '0');
  } else if (word == "visible") {
    variable.is_visible = true;
  } else if (word == "extern") {
    variable.is_extern = true;
  } else if (word == "weak") {
    variable.is_weak = true;
  } else if (word == "common") {
    variable.is_common = true;
  } else if (word == "ptr") {
    return parse_pointer_attribute();
  } else if (word == "attribute") {
    cursor_.skip_space();
    const char* group = cursor_.at();
    if (cursor_.peek() != '(') {
      return cursor_.fail_expected("'(' after .attribute");
    }
    if (!cursor_.skip_group('(', ')')) {
      return false;
    }
    variable.is_managed |= cursor_.since(group).find(".managed") != std::string_view::npos;
  } else if (!is_opaque_type(word)) {
    return cursor_.fail(where, fmt::format("unknown word \".{}\" in a declaration", word));
  }
  return true;
}

// What a pointer parameter points to says nothing about the parameter.
bool DeclarationParser::parse_pointer_attribute() {
  while (true) {
    cursor_.skip_space();
    const char* start = cursor_.at();
    const std::string_view word = cursor_.accept_dot_word();
    std::uint32_t alignment = 0;
    if (word == "align") {
      if (!cursor_.expect_number(alignment, "the number of bytes after .align")) {
        return false;
      }
    } else if (parse_space(word) == StateSpace::kNone) {
      cursor_.set(cursor_.failed() ? cursor_.at() : start);
      return !cursor_.failed();
    }
  }
}

void DeclarationParser::declare(const Variable& variable) {
  if (variable.space == StateSpace::kReg) {
    scopes_.declare_register(variable.name, variable.range);
  } else if (variable.is_array || variable.name[0] == '%' || scopes_.is_register(variable.name)) {
    scopes_.declare_variable(variable.name, size_of(variable.type) * variable.vector);
  }
}

bool DeclarationParser::parse_variables(const Prefix& prefix, std::vector<Variable>& variables) {
  do {
    Variable& variable = variables.emplace_back(prefix.variable);
    if (!parse_declarator(variable)) {
      return false;
    }
    declare(variable);
  } while (cursor_.accept(','));
  return cursor_.expect(';', "',' or ';' in a declaration");
}

// name, name<5>, name[4], and an initialiser.
bool DeclarationParser::parse_declarator(Variable& variable) {
  variable.name = cursor_.accept_name();
  if (variable.name.empty()) {
    return cursor_.fail_expected("the name of a variable");
  }
  if (variable.space == StateSpace::kReg && cursor_.accept('<')) {
    return cursor_.expect_number(variable.range, "the number of registers") &&
           cursor_.expect('>', "'>' after the number of registers");
  }
  std::vector<std::uint64_t> dimensions;
  return parse_dimensions(variable, dimensions) &&
         (!cursor_.accept('=') || parse_initializer(variable, dimensions));
}

bool DeclarationParser::parse_dimensions(Variable& variable,
                                         std::vector<std::uint64_t>& dimensions) {
  cursor_.skip_space();
  while (cursor_.peek() == '[') {
    const char* where = cursor_.at();
    cursor_.advance(1);
    if (dimensions.size() == kMaximumDimensions) {
      return cursor_.fail(where, "an array has too many dimensions");
    }
    Constant extent;
    if (!cursor_.accept(']') && !(parse_constant(cursor_, extent) &&
                                  cursor_.expect(']', "']' after the size of an array"))) {
      return false;
    }
    constexpr std::uint64_t kMaximum = std::uint64_t{1} << 40;
    if (!extent.is_integer() || extent.bits > kMaximum ||
        (variable.elements != 0 && extent.bits > kMaximum / variable.elements)) {
      return cursor_.fail(where, "the size of an array is out of range");
    }
    variable.is_array = true;
    variable.elements *= extent.bits;
    dimensions.push_back(extent.bits);
    cursor_.skip_space();
  }
  return !cursor_.failed();
}

bool DeclarationParser::parse_initializer(Variable& variable,
                                          std::vector<std::uint64_t>& dimensions) {
  cursor_.skip_space();
  if (cursor_.peek() != '{') {
    return operands_.parse_value(variable.initializer.emplace_back());
  }
  if (variable.type == ScalarType::kNone) {  // .texref t = { address_mode_0 = wrap, … }
    return cursor_.skip_group('{', '}');
  }
  if (variable.vector > 1) {
    dimensions.push_back(variable.vector);
  }
  if (!parse_list(variable, dimensions, 0)) {
    return false;
  }
  if (variable.is_array && variable.elements == 0) {
    std::uint64_t inner = 1;
    for (std::size_t level = 1; level < dimensions.size(); ++level) {
      inner *= dimensions[level];
    }
    const std::uint64_t count = variable.initializer.size();
    variable.elements = inner == 0 ? 0 : (count + inner - 1) / inner * inner / variable.vector;
  }
  return true;
}

// One { … }; an inner list that is too short is filled up with zeros before its successor.
bool DeclarationParser::parse_list(Variable& variable, const std::vector<std::uint64_t>& dimensions,
                                   std::size_t level) {
  if (level > kMaximumDimensions) {
    return cursor_.fail(cursor_.at(), "an initialiser is nested too deeply");
  }
  std::uint64_t inner = 1;
  for (std::size_t i = level + 1; i < dimensions.size(); ++i) {
    inner *= dimensions[i];
  }
  cursor_.advance(1);
  if (cursor_.accept('}')) {
    return true;
  }
  const std::size_t start = variable.initializer.size();
  do {
    cursor_.skip_space();
    if (cursor_.peek() == '{') {
      const std::uint64_t filled = variable.initializer.size() - start;
      if ((inner != 0 && filled % inner != 0 && !pad(variable, inner - filled % inner)) ||
          !parse_list(variable, dimensions, level + 1)) {
        return false;
      }
      const std::uint64_t now = variable.initializer.size() - start;
      cursor_.skip_space();
      const bool is_short = inner > 1 && (now % inner != 0 || now == filled);
      if (is_short && cursor_.peek() == ',' && !pad(variable, inner - now % inner)) {
        return false;
      }
    } else if (!operands_.parse_value(variable.initializer.emplace_back())) {
      return false;
    }
  } while (cursor_.accept(','));
  return cursor_.expect('}', "',' or '}' in an initialiser");
}

bool DeclarationParser::pad(Variable& variable, std::uint64_t count) {
  if (count > kMaximumElements || variable.initializer.size() > kMaximumElements - count) {
    return cursor_.fail(cursor_.at(), "an initialiser has too many elements");
  }
  Operand zero;
  zero.kind = Operand::Kind::kInteger;
  zero.text = "0";
  variable.initializer.insert(variable.initializer.end(), count, zero);
  return true;
}

bool DeclarationParser::parse_parameters(std::vector<Variable>& parameters) {
  if (!cursor_.expect('(', "'(' of a parameter list") || cursor_.accept(')')) {
    return !cursor_.failed();
  }
  do {
    Prefix prefix;
    if (!parse_prefix(prefix)) {
      return false;
    }
    if (prefix.is_function || prefix.variable.space == StateSpace::kNone) {
      return cursor_.fail_expected("a parameter");
    }
    Variable& parameter = parameters.emplace_back(std::move(prefix.variable));
    if (!parse_declarator(parameter)) {
      return false;
    }
    declare(parameter);
  } while (cursor_.accept(','));
  return cursor_.expect(')', "',' or ')' in a parameter list");
}

// ".maxntid 256, 1, 1", ".noreturn", ".attribute(.unified(…))": words with what follows them.
bool DeclarationParser::parse_attributes(std::vector<std::string_view>& attributes) {
  cursor_.skip_space();
  while (cursor_.peek() == '.') {
    const char* start = cursor_.at();
    if (cursor_.accept_dot_word().empty()) {
      return cursor_.fail_expected("an attribute");
    }
    const char* last = cursor_.at();
    bool more = true;
    while (more) {
      cursor_.skip_space();
      const char c = cursor_.peek();
      std::string_view text;
      more = false;
      if (c == '(') {
        more = cursor_.skip_group('(', ')');
      } else if (c == '"') {
        more = cursor_.expect_string(text, "a string");
      } else if (character::is(c, character::kDigit) || c == ',') {
        cursor_.advance(1);
        more = true;
        while (character::is(cursor_.peek(), character::kName)) {
          cursor_.advance(1);
        }
      }
      if (cursor_.failed()) {
        return false;
      }
      last = more ? cursor_.at() : last;
    }
    attributes.emplace_back(start, static_cast<std::size_t>(last - start));
    cursor_.skip_space();
  }
  return !cursor_.failed();
}

bool DeclarationParser::parse_function(const Prefix& prefix, Function& function) {
  scopes_.open();
  const Variable& linkage = prefix.variable;
  function.is_entry = prefix.is_entry;
  function.is_extern = linkage.is_extern;
  function.is_visible = linkage.is_visible;
  function.is_weak = linkage.is_weak;
  if (!parse_attributes(function.attributes)) {
    return false;
  }
  if (!function.is_entry && cursor_.peek() == '(' && !parse_parameters(function.returns)) {
    return false;
  }
  if (!parse_attributes(function.attributes)) {
    return false;
  }
  function.name = cursor_.accept_name();
  if (function.name.empty()) {
    return cursor_.fail_expected("the name of a function");
  }
  cursor_.skip_space();
  if (cursor_.peek() == '(' && !parse_parameters(function.parameters)) {
    return false;
  }
  if (!parse_attributes(function.attributes)) {
    return false;
  }
  // ".pragma "…";" and the like end in a semicolon of their own before the body.
  while (cursor_.peek() == ';' && !function.attributes.empty() &&
         function.attributes.back().starts_with(".pragma")) {
    cursor_.advance(1);
    if (!parse_attributes(function.attributes)) {
      return false;
    }
  }
  function.bounds = read_bounds(function.attributes);
  if (cursor_.accept(';')) {
    return true;
  }
  function.has_body = cursor_.peek() == '{';
  return function.has_body || cursor_.fail_expected(fmt::format(
                                  "'{{' or ';' after the header of \"{}\"", function.name));
}

bool DeclarationParser::parse_prototype(std::vector<Variable>& returns,
                                        std::vector<Variable>& parameters) {
  scopes_.open();
  cursor_.skip_space();
  bool parsed = cursor_.peek() != '(' || parse_parameters(returns);
  if (parsed && cursor_.accept_name().empty()) {
    parsed = cursor_.fail_expected("'_' in a prototype");
  }
  cursor_.skip_space();
  std::vector<std::string_view> attributes;
  parsed = parsed && (cursor_.peek() != '(' || parse_parameters(parameters)) &&
           parse_attributes(attributes) && cursor_.expect(';', "';' after a prototype");
  scopes_.close();
  return parsed;
}

}  // namespace barracuda::ptx
