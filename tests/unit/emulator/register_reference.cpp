#include "tests/unit/emulator/register_reference.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace barracuda::emulator::test {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
using Compute = std::function<u64(u64, u64, u64)>;

std::string source(Scalar type, std::size_t index) {
  static const std::map<std::pair<bool, int>, std::string_view> names = {
      {{false, 8}, "abc"},  {{false, 16}, "hij"}, {{false, 32}, "abc"},
      {{false, 64}, "xyz"}, {{true, 32}, "fgk"},  {{true, 64}, "uvw"}};
  return std::string("%") + names.at({type.is_float(), type.bits})[index];
}

std::string result(Scalar type) {
  if (type.is_float()) {
    return type.bits == 32 ? "%q" : "%t";
  }
  return type.bits <= 16 ? "%s" : type.bits == 32 ? "%r" : "%R";
}

u64 truncated(UnsignedWide value, int bits) {
  return static_cast<u64>(bits >= 64 ? value : value & ((UnsignedWide{1} << bits) - 1));
}

Wide value_of(Scalar type, u64 raw) {
  const u64 low = truncated(raw, type.bits);
  if (type.kind != 's') {
    return static_cast<Wide>(low);
  }
  const int unused = 64 - type.bits;
  return static_cast<s64>(low << unused) >> unused;
}

// ---- integers

// In 128 bits nothing overflows; what is stored wraps.
Wide divided(Wide a, Wide b, bool remainder) {
  if (b == 0) {
    return remainder ? a : Wide{-1};
  }
  return remainder ? a % b : a / b;
}

Wide multiplied(const UsedForm& form, Scalar type, Wide a, Wide b) {
  const UnsignedWide product = static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b);
  if (!form.has("hi")) {
    return static_cast<Wide>(product);
  }
  return type.kind == 's' ? static_cast<Wide>(product) >> type.bits
                          : static_cast<Wide>(product >> type.bits);
}

Wide saturated(const UsedForm& form, Scalar type, Wide value) {
  if (!form.has("sat")) {
    return value;
  }
  const Wide least = type.kind == 's' ? -(Wide{1} << (type.bits - 1)) : Wide{0};
  const Wide most = (Wide{1} << (type.kind == 's' ? type.bits - 1 : type.bits)) - 1;
  return std::min(std::max(value, least), most);
}

Wide integer_value(const UsedForm& form, Scalar type, const Wide (&v)[3]) {
  const std::string& head = form.words[0];
  const auto [a, b, c] = v;
  if (head == "mul" || head == "mad") {
    return multiplied(form, type, a, b) + (head == "mad" ? c : 0);
  }
  if (head == "div" || head == "rem") {
    return divided(a, b, head == "rem");
  }
  return head == "add"   ? saturated(form, type, a + b)
         : head == "sub" ? saturated(form, type, a - b)
         : head == "min" ? std::min(a, b)
         : head == "max" ? std::max(a, b)
         : head == "abs" ? std::max(a, -a)
         : head == "neg" ? -a
         : head == "sad" ? c + std::max(a - b, b - a)
         : head == "and" ? (a & b)
         : head == "or"  ? (a | b)
         : head == "xor" ? (a ^ b)
         : head == "not" ? ~a
                         : a;  // mov
}

Compute integer_compute(const UsedForm& form, Scalar type, int bits) {
  return [form, type, bits](u64 x, u64 y, u64 z) {
    const Scalar third{type.kind, bits};
    const Wide values[] = {value_of(type, x), value_of(type, y), value_of(third, z)};
    return truncated(static_cast<UnsignedWide>(integer_value(form, type, values)), bits);
  };
}

Compute shift_compute(const UsedForm& form, Scalar type) {
  return [form, type](u64 x, u64 y, u64) {
    const u32 count = std::min(static_cast<u32>(y), 64U);
    const Wide value = value_of(type, x);
    return truncated(
        static_cast<UnsignedWide>(form.words[0] == "shl" ? value << count : value >> count),
        type.bits);
  };
}

// ---- floating point

template <class T>
T from_raw(u64 raw) {
  if constexpr (sizeof(T) == 4) {
    return f32(raw);
  } else {
    return f64(raw);
  }
}

template <class T>
T flushed(const UsedForm& form, T value) {
  return form.has("ftz") && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value)
                                                                   : value;
}

int rounding_of(const UsedForm& form) {
  return form.has("rz")   ? FE_TOWARDZERO
         : form.has("rm") ? FE_DOWNWARD
         : form.has("rp") ? FE_UPWARD
                          : FE_TONEAREST;
}

template <class T>
T least_or_most(const UsedForm& form, T a, T b) {
  if (std::isnan(a) || std::isnan(b)) {
    return form.has("NaN") || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
           : std::isnan(a)                                     ? b
                                                               : a;
  }
  const bool is_min = form.words[0] == "min";
  if (a == b) {
    return std::signbit(a) == is_min ? a : b;
  }
  return (a < b) == is_min ? a : b;
}

template <class T>
T float_value(const UsedForm& form, T first, T second, T third) {
  // Volatile: computed after the rounding was set.
  const volatile T a = first, b = second, c = third;
  const std::string& head = form.words[0];
  return head == "add"    ? a + b
         : head == "sub"  ? a - b
         : head == "mul"  ? a * b
         : head == "div"  ? a / b
         : head == "fma"  ? std::fma(a, b, c)
         : head == "rcp"  ? T{1} / a
         : head == "sqrt" ? std::sqrt(a)
                          : a;
}

template <class T>
u64 float_bits(T value) {
  return value != value ? (sizeof(T) == 4 ? 0x7fffffffU : 1) : bits(value);
}

template <class T>
Compute float_compute(const UsedForm& form) {
  const std::string head = form.words[0];
  if (head == "neg" || head == "abs" || head == "copysign") {
    return [head](u64 x, u64 y, u64) {
      const u64 sign = u64{1} << (sizeof(T) * 8 - 1);
      const u64 a = truncated(x, sizeof(T) * 8), b = truncated(y, sizeof(T) * 8);
      return head == "neg" ? a ^ sign : head == "abs" ? a & ~sign : (a & sign) | (b & ~sign);
    };
  }
  if (head == "min" || head == "max") {
    return [form](u64 x, u64 y, u64) {
      return float_bits(
          least_or_most(form, flushed(form, from_raw<T>(x)), flushed(form, from_raw<T>(y))));
    };
  }
  return [form](u64 x, u64 y, u64 z) {
    std::fesetround(rounding_of(form));
    T value = float_value(form, flushed(form, from_raw<T>(x)), flushed(form, from_raw<T>(y)),
                          flushed(form, from_raw<T>(z)));
    std::fesetround(FE_TONEAREST);
    value = flushed(form, value);
    return float_bits(!form.has("sat") ? value : value > 0 ? std::min(value, T{1}) : T{0});
  };
}

// ---- comparisons

bool ordered_relation(std::string_view relation, bool less, bool equal) {
  return relation == "eq"                       ? equal
         : relation == "ne"                     ? !equal
         : relation == "lt" || relation == "lo" ? less
         : relation == "le" || relation == "ls" ? less || equal
         : relation == "gt" || relation == "hi" ? !less && !equal
                                                : !less;
}

const std::vector<std::string_view>& relations() {
  static const std::vector<std::string_view> names = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                                      "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                                      "ltu", "leu", "gtu", "geu", "num", "nan"};
  return names;
}

bool float_relation(std::string_view relation, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (relation == "num" || relation == "nan") {
    return unordered == (relation == "nan");
  }
  if (unordered) {
    return relation.ends_with('u');
  }
  return ordered_relation(relation.substr(0, 2), a < b, a == b);
}

std::function<bool(u64, u64)> relation_of(const UsedForm& form, Scalar type) {
  const std::string_view found = form.first_of(relations());
  const std::string relation(found);
  if (type.is_float()) {
    return [form, relation, type](u64 x, u64 y) {
      const auto value = [&](u64 raw) {
        return type.bits == 32 ? static_cast<double>(flushed(form, f32(raw))) : f64(raw);
      };
      return float_relation(relation, value(x), value(y));
    };
  }
  return [relation, type](u64 x, u64 y) {
    const Wide a = value_of(type, x), b = value_of(type, y);
    return ordered_relation(relation, a < b, a == b);
  };
}

// ---- conversions

template <class T>
T rounded_to_integer(const UsedForm& form, T value) {
  return form.has("rzi")   ? std::trunc(value)
         : form.has("rmi") ? std::floor(value)
         : form.has("rpi") ? std::ceil(value)
         : form.has("rni") ? std::nearbyint(value)
                           : value;
}

u64 float_to_integer(const UsedForm& form, Scalar to, double value) {
  const double whole = rounded_to_integer(form, value);
  if (std::isnan(whole)) {
    return 0;
  }
  const double limit = std::ldexp(1.0, to.kind == 's' ? to.bits - 1 : to.bits);
  const Wide most = (Wide{1} << (to.kind == 's' ? to.bits - 1 : to.bits)) - 1;
  const Wide least = to.kind == 's' ? -most - 1 : 0;
  const Wide clamped = whole >= limit                        ? most
                       : whole <= static_cast<double>(least) ? least
                                                             : static_cast<Wide>(whole);
  return truncated(static_cast<UnsignedWide>(clamped), to.bits);
}

template <class T>
u64 to_float(const UsedForm& form, Scalar from, u64 raw) {
  std::fesetround(rounding_of(form));
  T value{};
  if (from.is_float()) {
    const volatile double exact = from.bits == 32 ? static_cast<double>(f32(raw)) : f64(raw);
    value = static_cast<T>(exact);
  } else if (from.kind == 's') {
    const volatile s64 exact = static_cast<s64>(value_of(from, raw));
    value = static_cast<T>(exact);
  } else {
    const volatile u64 exact = static_cast<u64>(value_of(from, raw));
    value = static_cast<T>(exact);
  }
  std::fesetround(FE_TONEAREST);
  value = rounded_to_integer(form, value);
  return float_bits(!form.has("sat") ? value : value > 0 ? std::min(value, T{1}) : T{0});
}

Compute conversion_compute(const UsedForm& form, Scalar to, Scalar from) {
  return [form, to, from](u64 x, u64, u64) {
    if (to.is_float()) {
      return to.bits == 32 ? to_float<float>(form, from, x) : to_float<double>(form, from, x);
    }
    if (from.is_float()) {
      return float_to_integer(form, to, from.bits == 32 ? static_cast<double>(f32(x)) : f64(x));
    }
    const Wide value = saturated(form, to, value_of(from, x));
    // What is narrower than its register is extended in it.
    const u64 low = truncated(static_cast<UnsignedWide>(value), to.bits);
    return truncated(static_cast<UnsignedWide>(value_of(to, low)), std::max(to.bits, 16));
  };
}

// ---- texts

std::string text_of(const UsedForm& form, Scalar to, Scalar from, int sources) {
  std::string text = form.text + " " + result(to);
  for (int i = 0; i < sources; ++i) {
    const bool is_wide_sum = i == 2 && form.has("wide");
    text += ", " + source(is_wide_sum ? to : from, static_cast<std::size_t>(i));
  }
  return text + ";";
}

OperandKind kind_of(Scalar from) {
  return !from.is_float()  ? OperandKind::kIntegers
         : from.bits == 32 ? OperandKind::kSingles
                           : OperandKind::kDoubles;
}

bool is_plain(Scalar type) {
  return type.bits >= 8 && type.bits <= 64 && (!type.is_float() || type.bits >= 32);
}

// A f64 result that is no number is stored as 1, for its bits are open.
std::string with_one_nan(std::string text, Scalar to) {
  const bool exact = text.starts_with("neg") || text.starts_with("abs") ||
                     text.starts_with("copysign") || text.starts_with("mov") ||
                     text.starts_with("selp") || text.find("selp") != std::string::npos;
  if (to.is_float() && to.bits == 64 && !exact) {
    text += " testp.notanumber.f64 %p2, %t; selp.f64 %t, 0d0000000000000001, %t, %p2;";
  }
  return text;
}

std::optional<RegisterCase> predicate_case(const UsedForm& form) {
  static const std::set<std::string> heads = {"and", "or", "xor"};
  if (!heads.contains(form.words[0])) {
    return std::nullopt;
  }
  const std::string head = form.words[0];
  return RegisterCase{
      {"setp.lt.s32 %p, %a, 0; setp.lt.s32 %p2, %b, 0; " + form.text + " %p, %p, %p2;",
       [head](u64 x, u64 y, u64) {
         const u64 a = (x >> 31) & 1, b = (y >> 31) & 1;
         return head == "and" ? a & b : head == "or" ? a | b : a ^ b;
       }}};
}

std::optional<RegisterCase> selection_case(const UsedForm& form, Scalar type) {
  // With the first operand's bits, whatever the type.
  return RegisterCase{{"setp.eq.s32 %p2, %c, 1; " + form.text + " " + result(type) + ", " +
                           source(type, 0) + ", " + source(type, 1) + ", %p2;",
                       [type](u64 x, u64 y, u64 z) {
                         return truncated(static_cast<u32>(z) == 1 ? x : y, type.bits);
                       }},
                      OperandKind::kIntegers};
}

std::optional<RegisterCase> set_case(const UsedForm& form, Scalar to, Scalar from) {
  const auto holds = relation_of(form, from);
  const u64 yes = to.is_float() ? bits(1.0F) : 0xffffffffU;
  return RegisterCase{{text_of(form, to, from, 2),
                       [holds, yes](u64 x, u64 y, u64) { return holds(x, y) ? yes : u64{0}; }},
                      kind_of(from)};
}

std::optional<RegisterCase> arithmetic_case(const UsedForm& form, Scalar type) {
  static const std::map<std::string, int> sources = {
      {"add", 2}, {"sub", 2}, {"mul", 2}, {"mad", 3}, {"div", 2},  {"rem", 2},     {"min", 2},
      {"max", 2}, {"abs", 1}, {"neg", 1}, {"sad", 3}, {"and", 2},  {"or", 2},      {"xor", 2},
      {"not", 1}, {"mov", 1}, {"fma", 3}, {"rcp", 1}, {"sqrt", 1}, {"copysign", 2}};
  const auto found = sources.find(form.words[0]);
  if (found == sources.end() || form.has("cc") || form.has("approx") || form.has("full")) {
    return std::nullopt;
  }
  const Scalar to{type.kind, form.has("wide") ? type.bits * 2 : type.bits};
  Compute compute = type.is_float() && form.words[0] != "mov"
                        ? type.bits == 32 ? float_compute<float>(form) : float_compute<double>(form)
                        : integer_compute(form, type, to.bits);
  return RegisterCase{
      {with_one_nan(text_of(form, to, type, found->second), to), std::move(compute)},
      kind_of(type)};
}

}  // namespace

std::optional<RegisterCase> register_case(const UsedForm& form) {
  const auto types = scalars_of(form);
  const std::string& head = form.words[0];
  if (types.empty() && form.words.back() == "pred" && form.words.size() == 2) {
    return predicate_case(form);
  }
  if (types.empty() || !is_plain(types.front()) || !is_plain(types.back())) {
    return std::nullopt;
  }
  if (form.words.back() !=
      (std::string(1, types.back().kind) + std::to_string(types.back().bits))) {
    return std::nullopt;
  }
  const Scalar to = types.front(), from = types.back();
  if (head == "cvt" && types.size() == 2) {
    return RegisterCase{
        {with_one_nan(text_of(form, to, from, 1), to), conversion_compute(form, to, from)},
        kind_of(from)};
  }
  if (head == "setp" && types.size() == 1) {
    const auto holds = relation_of(form, from);
    return RegisterCase{{form.text + " %p, " + source(from, 0) + ", " + source(from, 1) + ";",
                         [holds](u64 x, u64 y, u64) { return u64{holds(x, y)}; }},
                        kind_of(from)};
  }
  if (head == "set" && types.size() == 2) {
    return set_case(form, to, from);
  }
  if (head == "selp") {
    return selection_case(form, from);
  }
  if (head == "shl" || head == "shr") {
    return RegisterCase{{form.text + " " + result(from) + ", " + source(from, 0) + ", %b;",
                         shift_compute(form, from)}};
  }
  return types.size() == 1 ? arithmetic_case(form, from) : std::nullopt;
}

}  // namespace barracuda::emulator::test
