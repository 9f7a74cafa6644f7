#include "ptx/parser/constant_expression.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <string_view>

namespace barracuda::ptx {

namespace {

using Kind = Constant::Kind;

constexpr int kMaximumDepth = 200;
constexpr int kTernary = 0;
constexpr int kMultiplicative = 10;

struct BinaryOperator {
  std::string_view spelling;
  int precedence;
};

// Longer spellings first.
constexpr auto kOperators = std::to_array<BinaryOperator>({
    {.spelling = "||", .precedence = 1},
    {.spelling = "&&", .precedence = 2},
    {.spelling = "==", .precedence = 6},
    {.spelling = "!=", .precedence = 6},
    {.spelling = "<=", .precedence = 7},
    {.spelling = ">=", .precedence = 7},
    {.spelling = "<<", .precedence = 8},
    {.spelling = ">>", .precedence = 8},
    {.spelling = "|", .precedence = 3},
    {.spelling = "^", .precedence = 4},
    {.spelling = "&", .precedence = 5},
    {.spelling = "<", .precedence = 7},
    {.spelling = ">", .precedence = 7},
    {.spelling = "+", .precedence = 9},
    {.spelling = "-", .precedence = 9},
    {.spelling = "*", .precedence = 10},
    {.spelling = "/", .precedence = 10},
    {.spelling = "%", .precedence = 10},
});

double as_double(const Constant& value) {
  switch (value.kind) {
    case Kind::kSigned:
      return static_cast<double>(static_cast<std::int64_t>(value.bits));
    case Kind::kUnsigned:
      return static_cast<double>(value.bits);
    case Kind::kFloat32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value.bits)));
    case Kind::kFloat64:
      return std::bit_cast<double>(value.bits);
  }
  return 0;
}

bool is_true(const Constant& value) {
  return value.is_integer() ? value.bits != 0 : as_double(value) != 0;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(Cursor& cursor) : cursor_(cursor) {}

  bool parse(Constant& value, int minimum);
  bool parse_unary(Constant& value);
  bool parse_primary(Constant& value);

 private:
  const BinaryOperator* peek_operator(int minimum);
  bool parse_ternary(Constant& value);
  bool parse_parenthesis(Constant& value);
  bool parse_number(Constant& value);
  bool parse_float_bits(Constant& value, std::size_t digits, Kind kind);
  bool parse_decimal(Constant& value);
  bool finish_integer(Constant& value, const char* digits, int base);
  bool apply(const BinaryOperator& op, const char* where, Constant& left, const Constant& right);
  bool apply_unary(char op, const char* where, Constant& value);

  Cursor& cursor_;
  int depth_ = 0;
};

const BinaryOperator* ExpressionParser::peek_operator(int minimum) {
  cursor_.skip_space();
  const char* at = cursor_.at();
  for (const BinaryOperator& op : kOperators) {
    if (*at == op.spelling[0] && (op.spelling.size() == 1 || at[1] == op.spelling[1])) {
      return op.precedence >= minimum ? &op : nullptr;
    }
  }
  return nullptr;
}

bool ExpressionParser::parse(Constant& value, int minimum) {
  if (++depth_ > kMaximumDepth) {
    return cursor_.fail(cursor_.at(), "the expression is nested too deeply");
  }
  if (!parse_unary(value)) {
    return false;
  }
  while (true) {
    cursor_.skip_space();
    const char c = cursor_.peek();
    if (c == ',' || c == ';' || c == ']' || c == ')' || c == '}') {
      break;
    }
    const BinaryOperator* op = peek_operator(minimum);
    if (op == nullptr) {
      break;
    }
    const char* where = cursor_.at();
    cursor_.advance(op->spelling.size());
    Constant right;
    if (!parse(right, op->precedence + 1) || !apply(*op, where, value, right)) {
      return false;
    }
  }
  if (minimum == kTernary && cursor_.peek() == '?' && !parse_ternary(value)) {
    return false;
  }
  --depth_;
  return true;
}

bool ExpressionParser::parse_ternary(Constant& value) {
  cursor_.advance(1);
  Constant yes, no;
  if (!parse(yes, kTernary) || !cursor_.expect(':', "':' of a conditional expression") ||
      !parse(no, kTernary)) {
    return false;
  }
  value = is_true(value) ? yes : no;
  return true;
}

bool ExpressionParser::parse_unary(Constant& value) {
  cursor_.skip_space();
  const char* where = cursor_.at();
  const char op = cursor_.peek();
  if (op != '-' && op != '+' && op != '!' && op != '~') {
    return parse_primary(value);
  }
  if (++depth_ > kMaximumDepth) {
    return cursor_.fail(where, "the expression is nested too deeply");
  }
  cursor_.advance(1);
  const bool parsed = parse_unary(value) && apply_unary(op, where, value);
  --depth_;
  return parsed;
}

bool ExpressionParser::apply_unary(char op, const char* where, Constant& value) {
  if (!value.is_integer() && op != '+' && op != '-') {
    return cursor_.fail(where, "this operator takes integers");
  }
  if (op == '-') {
    if (value.kind == Kind::kFloat32) {
      value.bits ^= 0x8000'0000U;
    } else if (value.kind == Kind::kFloat64) {
      value.bits ^= std::uint64_t{1} << 63;
    } else {
      value.bits = 0 - value.bits;
    }
  } else if (op == '~') {
    value.bits = ~value.bits;
  } else if (op == '!') {
    value = {.kind = Kind::kSigned, .bits = value.bits == 0 ? 1U : 0U};
  }
  return true;
}

bool ExpressionParser::parse_parenthesis(Constant& value) {
  cursor_.advance(1);
  const char* cast = cursor_.at();
  const std::string_view type = cursor_.accept_dot_word();
  if (!type.empty()) {
    if (type != "s64" && type != "u64") {
      return cursor_.fail(cast, "expected (.s64) or (.u64)");
    }
    if (!cursor_.expect(')', "')' after the type of a cast") || ++depth_ > kMaximumDepth ||
        !parse_unary(value)) {
      return cursor_.fail(cast, "the expression is nested too deeply");
    }
    --depth_;
    if (!value.is_integer()) {
      return cursor_.fail(cast, "only integers are cast");
    }
    value.kind = type == "s64" ? Kind::kSigned : Kind::kUnsigned;
    return true;
  }
  return parse(value, kTernary) && cursor_.expect(')', "')' of a constant expression");
}

bool ExpressionParser::parse_primary(Constant& value) {
  cursor_.skip_space();
  const char c = cursor_.peek();
  if (character::is(c, character::kDigit)) {
    return parse_number(value);
  }
  if (c == '(') {
    return parse_parenthesis(value);
  }
  if (c == 'W') {
    const char* start = cursor_.at();
    if (cursor_.accept_name() == "WARP_SZ") {
      value = {.kind = Kind::kSigned, .bits = 32};
      return true;
    }
    cursor_.set(start);
  }
  return cursor_.fail_expected("a constant");
}

bool ExpressionParser::parse_float_bits(Constant& value, std::size_t digits, Kind kind) {
  const char* start = cursor_.at();
  cursor_.advance(2);
  const char* first = cursor_.at();
  const auto [stop, error] = std::from_chars(first, cursor_.end(), value.bits, 16);
  if (error != std::errc{} || static_cast<std::size_t>(stop - first) != digits ||
      character::is(*stop, character::kName)) {
    return cursor_.fail(start, digits == 8 ? "a 0f literal has 8 hexadecimal digits"
                                           : "a 0d literal has 16 hexadecimal digits");
  }
  value.kind = kind;
  cursor_.set(stop);
  return true;
}

bool ExpressionParser::parse_number(Constant& value) {
  const char* start = cursor_.at();
  if (*start != '0') {
    return parse_decimal(value);
  }
  switch (start[1]) {
    case 'f':
    case 'F':
      return parse_float_bits(value, 8, Kind::kFloat32);
    case 'd':
    case 'D':
      return parse_float_bits(value, 16, Kind::kFloat64);
    case 'x':
    case 'X':
      return finish_integer(value, start + 2, 16);
    case 'b':
    case 'B':
      return finish_integer(value, start + 2, 2);
    default:
      return parse_decimal(value);
  }
}

bool ExpressionParser::parse_decimal(Constant& value) {
  const char* start = cursor_.at();
  const char* stop = start;
  while (character::is(*stop, character::kDigit)) {
    ++stop;
  }
  const bool exponent =
      (*stop == 'e' || *stop == 'E') &&
      (character::is(stop[1], character::kDigit) || stop[1] == '-' || stop[1] == '+');
  if (*stop != '.' && !exponent) {
    return *start == '0' && stop > start + 1 ? finish_integer(value, start + 1, 8)
                                             : finish_integer(value, start, 10);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(start, cursor_.end(), number);
  if (error == std::errc::invalid_argument || character::is(*end, character::kName)) {
    return cursor_.fail(start, "malformed floating-point literal");
  }
  if (error == std::errc::result_out_of_range) {
    return cursor_.fail(start, "this floating-point literal does not fit a double");
  }
  value = {.kind = Kind::kFloat64, .bits = std::bit_cast<std::uint64_t>(number)};
  cursor_.set(end);
  return true;
}

bool ExpressionParser::finish_integer(Constant& value, const char* digits, int base) {
  const char* start = cursor_.at();
  auto [stop, error] = std::from_chars(digits, cursor_.end(), value.bits, base);
  if (error == std::errc::result_out_of_range) {
    return cursor_.fail(start, "this integer does not fit 64 bits");
  }
  value.kind = value.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                   ? Kind::kUnsigned
                   : Kind::kSigned;
  if (error == std::errc{} && *stop == 'U') {
    value.kind = Kind::kUnsigned;
    ++stop;
  }
  if (error != std::errc{} || character::is(*stop, character::kName)) {
    return cursor_.fail(start, "malformed integer");
  }
  cursor_.set(stop);
  return true;
}

// Signed operations wrap: they are done on the unsigned bits.
std::uint64_t shift_right(const Constant& left, std::uint64_t count) {
  if (left.kind == Kind::kUnsigned) {
    return count > 63 ? 0 : left.bits >> count;
  }
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(left.bits) >>
                                    (count > 63 ? 63 : count));
}

std::uint64_t divide(const Constant& left, const Constant& right, bool is_unsigned, bool modulo) {
  if (is_unsigned) {
    return modulo ? left.bits % right.bits : left.bits / right.bits;
  }
  const auto a = static_cast<std::int64_t>(left.bits);
  const auto b = static_cast<std::int64_t>(right.bits);
  if (b == -1) {
    return modulo ? 0 : 0 - left.bits;
  }
  return static_cast<std::uint64_t>(modulo ? a % b : a / b);
}

std::uint64_t compare(std::string_view op, int order) {
  const bool holds = op == "=="   ? order == 0
                     : op == "!=" ? order != 0
                     : op == "<=" ? order <= 0
                     : op == ">=" ? order >= 0
                     : op == "<"  ? order < 0
                                  : order > 0;
  return holds ? 1 : 0;
}

template <typename Number>
int order_of(Number left, Number right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

Constant integer_result(std::string_view op, const Constant& left, const Constant& right) {
  const bool is_unsigned = left.kind == Kind::kUnsigned || right.kind == Kind::kUnsigned;
  Constant result{.kind = is_unsigned ? Kind::kUnsigned : Kind::kSigned};
  if (op == "<<" || op == ">>") {
    result.kind = left.kind;
    result.bits = op == ">>"        ? shift_right(left, right.bits)
                  : right.bits > 63 ? 0
                                    : left.bits << right.bits;
    return result;
  }
  if (op == "&&" || op == "||") {
    const bool both = left.bits != 0 && right.bits != 0;
    const bool either = left.bits != 0 || right.bits != 0;
    return {.kind = Kind::kSigned, .bits = (op == "&&" ? both : either) ? 1U : 0U};
  }
  switch (op[0]) {
    case '+':
      result.bits = left.bits + right.bits;
      return result;
    case '-':
      result.bits = left.bits - right.bits;
      return result;
    case '*':
      result.bits = left.bits * right.bits;
      return result;
    case '&':
      result.bits = left.bits & right.bits;
      return result;
    case '|':
      result.bits = left.bits | right.bits;
      return result;
    case '^':
      result.bits = left.bits ^ right.bits;
      return result;
    case '/':
    case '%':
      result.bits = divide(left, right, is_unsigned, op[0] == '%');
      return result;
    default:
      break;
  }
  const int order = is_unsigned ? order_of(left.bits, right.bits)
                                : order_of(static_cast<std::int64_t>(left.bits),
                                           static_cast<std::int64_t>(right.bits));
  return {.kind = Kind::kSigned, .bits = compare(op, order)};
}

bool ExpressionParser::apply(const BinaryOperator& op, const char* where, Constant& left,
                             const Constant& right) {
  const char first = op.spelling[0];
  if (left.is_integer() && right.is_integer()) {
    if ((first == '/' || first == '%') && right.bits == 0) {
      return cursor_.fail(where, "division by zero in a constant expression");
    }
    left = integer_result(op.spelling, left, right);
    return true;
  }
  const double a = as_double(left), b = as_double(right);
  const bool is_arithmetic = first == '+' || first == '-' || first == '*' || first == '/';
  if (is_arithmetic) {
    const double result = first == '+'   ? a + b
                          : first == '-' ? a - b
                          : first == '*' ? a * b
                                         : a / b;
    left = {.kind = Kind::kFloat64, .bits = std::bit_cast<std::uint64_t>(result)};
    return true;
  }
  const bool is_comparison = op.precedence == 6 || op.precedence == 7;
  if (!is_comparison) {
    return cursor_.fail(where, "this operator takes integers");
  }
  left = {.kind = Kind::kSigned, .bits = compare(op.spelling, order_of(a, b))};
  return true;
}

}  // namespace

bool parse_constant(Cursor& cursor, Constant& value) {
  return ExpressionParser(cursor).parse(value, kTernary);
}

bool parse_constant_term(Cursor& cursor, Constant& value) {
  return ExpressionParser(cursor).parse(value, kMultiplicative);
}

}  // namespace barracuda::ptx
