// Extended-precision arithmetic: the carry of each lane is a predicate of the frame, slot e.
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

enum class Sum : u8 { kAdd, kSub, kMadLo, kMadHi };

template <class T>
struct Both {
  T value;
  bool carry;
};

template <class T>
constexpr T product(Sum kind, T a, T b) {
  if (kind == Sum::kMadLo) {
    return a * b;
  }
  __extension__ using Wide = std::conditional_t < sizeof(T) == 8, unsigned __int128, u64 > ;
  return static_cast<T>((static_cast<Wide>(a) * b) >> (8 * sizeof(T)));
}

// The high half of a signed product: the unsigned one, corrected for negative factors.
template <class T>
constexpr T signed_high(T a, T b) {
  using S = std::make_signed_t<T>;
  const T high = product(Sum::kMadHi, a, b);
  return high - (static_cast<S>(a) < 0 ? b : T{0}) - (static_cast<S>(b) < 0 ? a : T{0});
}

template <class T>
constexpr Both<T> add(T a, T b, bool carry) {
  const T sum = a + b;
  const T total = sum + (carry ? 1 : 0);
  return {.value = total, .carry = sum < a || total < sum};
}

template <class T>
constexpr Both<T> subtract(T a, T b, bool borrow) {
  const T difference = a - b;
  return {.value = static_cast<T>(difference - (borrow ? 1 : 0)),
          .carry = a < b || (borrow && difference == 0)};
}

constexpr u8 kReads = 1, kWrites = 2, kSigned = 4;

template <class T, Sum Kind>
Step extended(Context& c, const Instruction& in, u32 mask) {
  const T* a = source<T>(c, in.a);
  const T* b = source<T>(c, in.b);
  const T* third = source<T>(c, in.c);
  T* d = target<T>(c, in.d);
  const u32 before = (in.flags & kReads) != 0 ? predicate(c, in.e) : 0;
  u32 after = 0;
  for (const int i : SetBits<int>(mask)) {
    const bool carry = (before & kBit[i]) != 0;
    Both<T> result{};
    if constexpr (Kind == Sum::kAdd) {
      result = add(a[i], b[i], carry);
    } else if constexpr (Kind == Sum::kSub) {
      result = subtract(a[i], b[i], carry);
    } else {
      const bool high_signed = Kind == Sum::kMadHi && (in.flags & kSigned) != 0;
      const T factor = high_signed ? signed_high(a[i], b[i]) : product(Kind, a[i], b[i]);
      result = add(factor, third[i], carry);
    }
    d[i] = result.value;
    after |= result.carry ? kBit[i] : 0U;
  }
  if ((in.flags & kWrites) != 0) {
    set_predicate(c, in.e, after, mask);
  }
  return Step::kNext;
}

template <Sum Kind>
Handler handler_of(ptx::ScalarType type) {
  return ptx::size_of(type) == 8 ? &extended<u64, Kind> : &extended<u32, Kind>;
}

}  // namespace

Selection select_carry(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Opcode op = form.opcode;
  Selection selection;
  if (op == Opcode::kAdd || op == Opcode::kAddc) {
    selection = binary(handler_of<Sum::kAdd>(type), type, type, type);
  } else if (op == Opcode::kSub || op == Opcode::kSubc) {
    selection = binary(handler_of<Sum::kSub>(type), type, type, type);
  } else if (op == Opcode::kMad || op == Opcode::kMadc) {
    selection = ternary(form.hi ? handler_of<Sum::kMadHi>(type) : handler_of<Sum::kMadLo>(type),
                        type, type, type, type);
  } else {
    return {};
  }
  const bool reads = op == Opcode::kAddc || op == Opcode::kSubc || op == Opcode::kMadc;
  const bool is_signed = type == kS32 || type == kS64;
  selection.uses_carry = true;
  selection.flags =
      static_cast<u8>((reads ? kReads : 0) | (form.cc ? kWrites : 0) | (is_signed ? kSigned : 0));
  return selection;
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
