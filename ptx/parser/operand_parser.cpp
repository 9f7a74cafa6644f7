#include "ptx/parser/operand_parser.h"

#include <utility>

#include "ptx/parser/constant_expression.h"
#include "ptx/parser/special_registers.h"

namespace barracuda::ptx {

namespace {

using Kind = Operand::Kind;

constexpr int kMaximumDepth = 32;

void set_constant(Operand& operand, const Constant& value) {
  operand.kind = value.is_integer() ? Kind::kInteger : Kind::kFloat;
  operand.bits = value.bits;
  operand.float_bits = value.is_integer()                       ? std::uint8_t{0}
                       : value.kind == Constant::Kind::kFloat32 ? std::uint8_t{32}
                                                                : std::uint8_t{64};
}

}  // namespace

bool OperandParser::too_deep() {
  return depth_ > kMaximumDepth && !cursor_.fail(cursor_.at(), "operands are nested too deeply");
}

bool OperandParser::parse(Operand& operand, bool in_call) {
  depth_ = 0;
  return parse_any(operand, in_call);
}

bool OperandParser::parse_any(Operand& operand, bool in_call) {
  cursor_.skip_space();
  const char* start = cursor_.at();
  bool parsed = false;
  switch (cursor_.peek()) {
    case '[':
      parsed = parse_address(operand);
      break;
    case '{':
      parsed = parse_elements(operand, '}', Kind::kVector);
      break;
    case '(':
      parsed =
          in_call ? parse_elements(operand, ')', Kind::kList) : parse_constant_operand(operand);
      break;
    case '!':
    case '-':
      parsed = parse_signed(operand);
      break;
    default:
      parsed = character::is(cursor_.peek(), character::kNameStart)
                   ? parse_name(operand)
                   : parse_constant_operand(operand);
      break;
  }
  if (parsed && operand.text.empty()) {
    operand.text = cursor_.since(start);
  }
  return parsed;
}

bool OperandParser::parse_constant_operand(Operand& operand) {
  cursor_.skip_space();
  const char c = cursor_.peek();
  if (!character::is(c, character::kDigit) && c != '(' && c != '+' && c != '~' && c != '-' &&
      c != '!' && c != 'W') {
    return cursor_.fail_expected("an operand");
  }
  const char* start = cursor_.at();
  Constant value;
  if (!parse_constant(cursor_, value)) {
    return false;
  }
  set_constant(operand, value);
  // Without the white space that the expression parser skipped in search of an operator.
  operand.text = cursor_.since(start);
  while (character::is(operand.text.back(), character::kSpace)) {
    operand.text.remove_suffix(1);
  }
  return true;
}

// !p, -r, or a constant that starts like them.
bool OperandParser::parse_signed(Operand& operand) {
  const char* start = cursor_.at();
  cursor_.advance(1);
  cursor_.skip_space();
  if (!character::is(cursor_.peek(), character::kNameStart)) {
    cursor_.set(start);
    return parse_constant_operand(operand);
  }
  if (!parse_name(operand)) {
    return false;
  }
  if (operand.kind == Kind::kInteger) {  // -WARP_SZ
    operand = {};
    cursor_.set(start);
    return parse_constant_operand(operand);
  }
  operand.negated = true;
  operand.text = cursor_.since(start);
  return true;
}

bool OperandParser::parse_name(Operand& operand) {
  const char* start = cursor_.at();
  operand.name = cursor_.accept_name();
  if (operand.name == "WARP_SZ") {
    cursor_.set(start);
    operand.name = {};
    return parse_constant_operand(operand);
  }
  operand.text = operand.name;
  if (operand.name == "_") {
    operand.kind = Kind::kSink;
    operand.name = {};
  } else if (!scopes_.is_register(operand.name)) {
    operand.kind = Kind::kSymbol;
  } else if (operand.name[0] == '%' && is_special_register(operand.name)) {
    operand.kind = Kind::kSpecial;
  } else {
    operand.kind = Kind::kRegister;
  }
  switch (cursor_.peek()) {
    case ',':
    case ';':
    case ']':
    case '}':
    case ')':
      return true;
    default:
      return parse_name_tail(operand, true);
  }
}

bool OperandParser::has_component() const {
  return cursor_.peek() == '.' && character::is(cursor_.peek_next(), character::kWord);
}

// What may follow a name: .component, [index], +offset, |second.
bool OperandParser::parse_name_tail(Operand& operand, bool allow_pair) {
  const char* start = operand.text.data();
  cursor_.skip_space();
  if (has_component()) {
    operand.component = cursor_.accept_dot_word();
    operand.text = cursor_.since(start);
    cursor_.skip_space();
  }
  if (cursor_.peek() == '[') {
    if (!parse_index(operand)) {
      return false;
    }
    operand.text = cursor_.since(start);
    cursor_.skip_space();
  }
  if (cursor_.peek() == '+' || cursor_.peek() == '-') {
    if (!parse_offset(operand.offset)) {
      return false;
    }
    operand.text = cursor_.since(start);
    while (character::is(operand.text.back(), character::kSpace)) {
      operand.text.remove_suffix(1);
    }
  }
  return cursor_.peek() != '|' || !allow_pair || parse_pair(operand, start);
}

bool OperandParser::parse_pair(Operand& operand, const char* start) {
  cursor_.advance(1);
  cursor_.skip_space();
  if (!character::is(cursor_.peek(), character::kNameStart)) {
    return cursor_.fail_expected("a register after '|'");
  }
  if (++depth_; too_deep()) {
    return false;
  }
  Operand pair;
  pair.kind = Kind::kPair;
  pair.elements.resize(2);
  if (!parse_name(pair.elements[1])) {
    return false;
  }
  --depth_;
  pair.elements[0] = std::move(operand);
  pair.text = cursor_.since(start);
  operand = std::move(pair);
  return true;
}

bool OperandParser::parse_offset(std::int64_t& offset) {
  auto sum = static_cast<std::uint64_t>(offset);
  while (cursor_.peek() == '+' || cursor_.peek() == '-') {
    const bool minus = cursor_.peek() == '-';
    const char* where = cursor_.at();
    cursor_.advance(1);
    Constant value;
    if (!parse_constant_term(cursor_, value)) {
      return false;
    }
    if (!value.is_integer()) {
      return cursor_.fail(where, "an offset must be an integer");
    }
    sum = minus ? sum - value.bits : sum + value.bits;
    cursor_.skip_space();
  }
  offset = static_cast<std::int64_t>(sum);
  return true;
}

// sym[4]: the index counts elements, the offset bytes.
bool OperandParser::parse_index(Operand& operand) {
  const char* where = cursor_.at();
  cursor_.advance(1);
  cursor_.skip_space();
  if (character::is(cursor_.peek(), character::kNameStart) && cursor_.peek() != 'W') {
    Operand index;
    if (!parse_name(index) || !cursor_.expect(']', "']' after an index")) {
      return false;
    }
    operand.elements.push_back(std::move(index));
    return true;
  }
  Constant value;
  if (!parse_constant(cursor_, value)) {
    return false;
  }
  if (!value.is_integer()) {
    return cursor_.fail(where, "an index must be an integer");
  }
  operand.offset = static_cast<std::int64_t>(value.bits * scopes_.element_bytes(operand.name));
  return cursor_.expect(']', "']' after an index");
}

bool OperandParser::parse_elements(Operand& operand, char close, Kind kind) {
  if (++depth_; too_deep()) {
    return false;
  }
  const bool is_list = kind == Kind::kList;
  operand.kind = kind;
  cursor_.advance(1);
  if (cursor_.accept(close)) {
    --depth_;
    return true;
  }
  operand.elements.reserve(is_list ? 1 : 4);
  do {
    if (!parse_any(operand.elements.emplace_back(), false)) {
      return false;
    }
  } while (cursor_.accept(','));
  --depth_;
  return cursor_.expect(close, is_list ? "',' or ')' in a list" : "',' or '}' in a vector");
}

bool OperandParser::parse_address(Operand& operand) {
  if (++depth_; too_deep()) {
    return false;
  }
  const char* start = cursor_.at();
  operand.kind = Kind::kAddress;
  cursor_.advance(1);
  operand.elements.reserve(1);
  Operand& base = operand.elements.emplace_back();
  if (!parse_any(base, false)) {
    return false;
  }
  // The offset belongs to the address: base is the bare register or symbol.
  if ((base.kind == Kind::kRegister || base.kind == Kind::kSymbol) && base.elements.empty()) {
    operand.offset = std::exchange(base.offset, 0);
    if (base.component.empty() && !base.negated) {
      base.text = base.name;
    }
  }
  while (cursor_.accept(',')) {
    if (!parse_any(operand.elements.emplace_back(), false)) {
      return false;
    }
  }
  if (!cursor_.expect(']', "']' after an address")) {
    return false;
  }
  --depth_;
  if (has_component()) {  // [a].unified
    operand.component = cursor_.accept_dot_word();
  }
  operand.text = cursor_.since(start);
  return true;
}

bool OperandParser::parse_value(Operand& operand) {
  cursor_.skip_space();
  const char* start = cursor_.at();
  if (character::is(cursor_.peek(), character::kNameStart)) {
    const std::string_view name = cursor_.accept_name();
    cursor_.skip_space();
    const bool is_operator = cursor_.peek() == '(' && (name == "generic" || name == "mask");
    cursor_.set(start);
    if (name == "WARP_SZ") {
      return parse_constant_operand(operand);
    }
    if (is_operator) {
      cursor_.accept_name();
    }
    const bool parsed = parse_symbol_value(operand, is_operator ? name : std::string_view{});
    operand.text = cursor_.since(start);
    return parsed;
  }
  if (!parse_constant_operand(operand)) {
    return false;
  }
  cursor_.skip_space();
  if (cursor_.peek() == '(' && operand.kind == Kind::kInteger) {  // 0xff00(symbol)
    const bool parsed = parse_symbol_value(operand, "mask");
    operand.text = cursor_.since(start);
    return parsed;
  }
  return true;
}

// symbol[+offset], or (symbol[+offset]) where `component` names an operator.
bool OperandParser::parse_symbol_value(Operand& operand, std::string_view component) {
  operand.kind = Kind::kSymbol;
  operand.component = component;
  const bool is_group = !component.empty();
  if (is_group && !cursor_.expect('(', "'('")) {
    return false;
  }
  operand.name = cursor_.accept_name();
  if (operand.name.empty()) {
    return cursor_.fail_expected("a symbol");
  }
  cursor_.skip_space();
  if (component == "mask" && operand.name == "generic" && cursor_.peek() == '(') {
    const std::uint64_t mask = operand.bits;
    if (!parse_symbol_value(operand, "generic")) {
      return false;
    }
    operand.component = "mask.generic";
    operand.bits = mask;
    cursor_.skip_space();
  } else if (cursor_.peek() == '[' && !parse_index(operand)) {
    return false;
  }
  cursor_.skip_space();
  if ((cursor_.peek() == '+' || cursor_.peek() == '-') && !parse_offset(operand.offset)) {
    return false;
  }
  if (!is_group) {
    return true;
  }
  if (!cursor_.expect(')', "')' after a symbol")) {
    return false;
  }
  cursor_.skip_space();  // generic(symbol)+4
  return (cursor_.peek() != '+' && cursor_.peek() != '-') || parse_offset(operand.offset);
}

}  // namespace barracuda::ptx
