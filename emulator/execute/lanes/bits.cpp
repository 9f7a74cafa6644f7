// Logic, shifts, bit fields, bit counts, permutations.
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

template <class T>
constexpr auto kAnd = [](T a, T b) { return static_cast<T>(a & b); };
template <class T>
constexpr auto kOr = [](T a, T b) { return static_cast<T>(a | b); };
template <class T>
constexpr auto kXor = [](T a, T b) { return static_cast<T>(a ^ b); };
template <class T>
constexpr auto kNot = [](T a) { return static_cast<T>(~a); };
template <class T>
constexpr auto kCnot = [](T a) { return static_cast<T>(a == 0 ? 1 : 0); };

// Shift amounts beyond the width are clamped to it.
template <class T>
constexpr auto kShl = [](T a, u32 b) {
  constexpr u32 kWidth = 8 * sizeof(T);
  return b >= kWidth ? T{0} : static_cast<T>(static_cast<Lane<T>>(a) << (b & (kWidth - 1)));
};
template <class T>
constexpr auto kShr = [](T a, u32 b) {
  constexpr u32 kWidth = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (b >= kWidth ? kWidth - 1 : b));
  } else {
    return b >= kWidth ? T{0} : static_cast<T>(a >> (b & (kWidth - 1)));
  }
};

template <class T>
constexpr auto kPopc = [](T a) { return static_cast<u32>(std::popcount(a)); };
template <class T>
constexpr auto kClz = [](T a) { return static_cast<u32>(std::countl_zero(a)); };

constexpr u32 reverse(u32 v) {
  v = ((v >> 1) & 0x55555555U) | ((v & 0x55555555U) << 1);
  v = ((v >> 2) & 0x33333333U) | ((v & 0x33333333U) << 2);
  v = ((v >> 4) & 0x0f0f0f0fU) | ((v & 0x0f0f0f0fU) << 4);
  v = ((v >> 8) & 0x00ff00ffU) | ((v & 0x00ff00ffU) << 8);
  return (v >> 16) | (v << 16);
}

constexpr auto kBrev32 = [](u32 a) { return reverse(a); };
constexpr auto kBrev64 = [](u64 a) {
  return (u64{reverse(static_cast<u32>(a))} << 32) | reverse(static_cast<u32>(a >> 32));
};

// The most significant bit that is not a copy of the sign; all ones: there is none.
template <class T, bool Shift>
constexpr auto kBfind = [](T a) {
  using U = std::make_unsigned_t<T>;
  U value = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>) {
    value = a < 0 ? static_cast<U>(~value) : value;
  }
  const auto zeros = static_cast<u32>(std::countl_zero(value));
  const u32 found = Shift ? zeros : static_cast<u32>(8 * sizeof(T) - 1) - zeros;
  return value == 0 ? ~u32{0} : found;
};

template <class T>
constexpr auto kBfe = [](T a, u32 b, u32 c) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 kMost = 8 * sizeof(T) - 1;
  const u32 position = b & 0xff, length = c & 0xff;
  if (length == 0) {
    return T{0};
  }
  // Beyond the top the sign (or zero) continues.
  const T beyond = std::is_signed_v<T> ? static_cast<T>(a >> kMost) : T{0};
  const T shifted = position > kMost ? beyond : static_cast<T>(a >> position);
  if (length > kMost) {
    return shifted;
  }
  const U mask = static_cast<U>((U{1} << length) - 1);
  U field = static_cast<U>(shifted) & mask;
  if constexpr (std::is_signed_v<T>) {
    const u32 last = position + length - 1;
    const bool negative = ((static_cast<U>(a) >> (last > kMost ? kMost : last)) & 1) != 0;
    field = negative ? static_cast<U>(field | static_cast<U>(~mask)) : field;
  }
  return static_cast<T>(field);
};

template <class T>
constexpr auto kBfi = [](T a, T b, u32 c, u32 d) {
  constexpr u32 kWidth = 8 * sizeof(T);
  const u32 position = c & 0xff, length = d & 0xff;
  if (position >= kWidth || length == 0) {
    return b;
  }
  const T ones = length >= kWidth ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return static_cast<T>((b & ~mask) | ((a << position) & mask));
};

template <bool Clamp>
constexpr auto kBmsk = [](u32 a, u32 b) {
  const u32 position = Clamp ? a : a & 31;
  const u32 width = Clamp ? b : b & 31;
  const u32 ones = width >= 32 ? ~u32{0} : (u32{1} << (width & 31)) - 1;
  return position >= 32 ? u32{0} : ones << (position & 31);
};

template <bool Left, bool Clamp>
constexpr auto kShf = [](u32 low, u32 high, u32 amount) {
  const u32 n = Clamp ? (amount > 32 ? 32 : amount) : amount & 31;
  const u64 both = (u64{high} << 32) | low;
  return Left ? static_cast<u32>((both << n) >> 32) : static_cast<u32>(both >> n);
};

constexpr u32 pick_byte(u64 both, u32 selector) {
  const auto byte = static_cast<u32>(both >> ((selector & 7) * 8)) & 0xff;
  const u32 sign = (byte & 0x80) != 0 ? 0xffU : 0U;
  return (selector & 8) != 0 ? sign : byte;
}

constexpr auto kPrmt = [](u32 a, u32 b, u32 selectors) {
  const u64 both = (u64{b} << 32) | a;
  return pick_byte(both, selectors) | pick_byte(both, selectors >> 4) << 8 |
         pick_byte(both, selectors >> 8) << 16 | pick_byte(both, selectors >> 12) << 24;
};

enum class Permutation : u8 {
  kForward4,
  kBackward4,
  kReplicate8,
  kEdgeLeft,
  kEdgeRight,
  kReplicate16
};

constexpr u32 selector_of(Permutation mode, u32 control, u32 byte) {
  switch (mode) {
    case Permutation::kForward4:
      return control + byte;
    case Permutation::kBackward4:
      return control - byte;
    case Permutation::kReplicate8:
      return control;
    case Permutation::kEdgeLeft:
      return byte > control ? byte : control;
    case Permutation::kEdgeRight:
      return byte < control ? byte : control;
    case Permutation::kReplicate16:
      return (control & 1) * 2 + (byte & 1);
  }
  return 0;
}

template <Permutation Mode>
constexpr auto kPrmtMode = [](u32 a, u32 b, u32 control) {
  const u64 both = (u64{b} << 32) | a;
  u32 result = 0;
  for (u32 byte = 0; byte < 4; ++byte) {
    result |= pick_byte(both, selector_of(Mode, control & 3, byte) & 7) << (8 * byte);
  }
  return result;
};

// The table is the slot e, the same for all lanes.
Step lop3(Context& c, const Instruction& in, u32 mask) {
  const u32* a = source<u32>(c, in.a);
  const u32* b = source<u32>(c, in.b);
  const u32* third = source<u32>(c, in.c);
  const u32 table = source<u32>(c, in.e)[0];
  u32 term[8];
  for (u32 i = 0; i < 8; ++i) {
    term[i] = ((table >> i) & 1) != 0 ? ~u32{0} : 0;
  }
  fill(target<u32>(c, in.d), mask, [&](int i) {
    const u32 x = a[i], y = b[i], z = third[i];
    return (term[0] & ~x & ~y & ~z) | (term[1] & ~x & ~y & z) | (term[2] & ~x & y & ~z) |
           (term[3] & ~x & y & z) | (term[4] & x & ~y & ~z) | (term[5] & x & ~y & z) |
           (term[6] & x & y & ~z) | (term[7] & x & y & z);
  });
  return Step::kNext;
}

// The n-th set bit from `base` upwards (n > 0), downwards (n < 0), or the bit itself (n = 0).
constexpr auto kFns = [](u32 value, u32 base, s32 n) {
  auto position = static_cast<s32>(base & 31);
  if (n == 0) {
    return ((value >> position) & 1) != 0 ? static_cast<u32>(position) : ~u32{0};
  }
  const s32 step = n > 0 ? 1 : -1;
  for (s32 left = n; position >= 0 && position < 32; position += step) {
    if (((value >> position) & 1) != 0) {
      left -= step;
      if (left == 0) {
        return static_cast<u32>(position);
      }
    }
  }
  return ~u32{0};
};

enum class Logic : u8 { kAnd, kOr, kXor, kNot };

template <Logic Op>
Step predicate_logic(Context& c, const Instruction& in, u32 mask) {
  const u32 a = predicate(c, in.a);
  if constexpr (Op == Logic::kNot) {
    set_predicate(c, in.d, ~a, mask);
  } else {
    const u32 b = predicate(c, in.b);
    set_predicate(c, in.d, Op == Logic::kAnd ? a & b : Op == Logic::kOr ? a | b : a ^ b, mask);
  }
  return Step::kNext;
}

ptx::ScalarType bits_of(ptx::ScalarType type) {
  const std::uint32_t size = ptx::size_of(type);
  return size == 8 ? kB64 : size == 2 ? kB16 : kB32;
}

#define BINARY(op) \
  for_integer(bits_of(type), []<class T>(TypeTag<T>) -> Handler { return &map2<op<T>, T, T, T>; })
#define UNARY(op) \
  for_integer(bits_of(type), []<class T>(TypeTag<T>) -> Handler { return &map1<op<T>, T, T>; })

Selection select_logic(const Form& form) {
  const ptx::ScalarType type = form.type();
  const Opcode op = form.opcode;
  if (type == kPred) {
    if (op == Opcode::kNot) {
      return unary(&predicate_logic<Logic::kNot>, kPred, kPred);
    }
    const Handler handler = op == Opcode::kAnd  ? &predicate_logic<Logic::kAnd>
                            : op == Opcode::kOr ? &predicate_logic<Logic::kOr>
                                                : &predicate_logic<Logic::kXor>;
    return binary(handler, kPred, kPred, kPred);
  }
  if (op == Opcode::kNot || op == Opcode::kCnot) {
    return unary(op == Opcode::kNot ? UNARY(kNot) : UNARY(kCnot), type, type);
  }
  return binary(op == Opcode::kAnd  ? BINARY(kAnd)
                : op == Opcode::kOr ? BINARY(kOr)
                                    : BINARY(kXor),
                type, type, type);
}

Selection select_shift(const Form& form) {
  const ptx::ScalarType type = form.type();
  const auto left = []<class T>(TypeTag<T>) -> Handler { return &map2<kShl<T>, T, T, u32>; };
  const auto right = []<class T>(TypeTag<T>) -> Handler { return &map2<kShr<T>, T, T, u32>; };
  return binary(
      form.opcode == Opcode::kShl ? for_integer(bits_of(type), left) : for_integer(type, right),
      type, type, kU32);
}

Selection select_count(const Form& form) {
  const ptx::ScalarType type = form.type();
  const bool wide = ptx::size_of(type) == 8;
  if (form.opcode == Opcode::kPopc) {
    return unary(wide ? &map1<kPopc<u64>, u32, u64> : &map1<kPopc<u32>, u32, u32>, kU32, type);
  }
  if (form.opcode == Opcode::kClz) {
    return unary(wide ? &map1<kClz<u64>, u32, u64> : &map1<kClz<u32>, u32, u32>, kU32, type);
  }
  if (form.opcode == Opcode::kBrev) {
    return unary(wide ? &map1<kBrev64, u64, u64> : &map1<kBrev32, u32, u32>, type, type);
  }
  const auto find = [shift = form.has(Modifier::kShiftamt)]<class T>(TypeTag<T>) -> Handler {
    return shift ? &map1<kBfind<T, true>, u32, T> : &map1<kBfind<T, false>, u32, T>;
  };
  return unary(for_integer(type, find), kU32, type);
}

Selection select_permutation(const Form& form) {
  Handler handler = &map3<kPrmt, u32, u32, u32, u32>;
  if (form.has(Modifier::kF4e)) {
    handler = &map3<kPrmtMode<Permutation::kForward4>, u32, u32, u32, u32>;
  } else if (form.has(Modifier::kB4e)) {
    handler = &map3<kPrmtMode<Permutation::kBackward4>, u32, u32, u32, u32>;
  } else if (form.has(Modifier::kRc8)) {
    handler = &map3<kPrmtMode<Permutation::kReplicate8>, u32, u32, u32, u32>;
  } else if (form.has(Modifier::kEcl)) {
    handler = &map3<kPrmtMode<Permutation::kEdgeLeft>, u32, u32, u32, u32>;
  } else if (form.has(Modifier::kEcr)) {
    handler = &map3<kPrmtMode<Permutation::kEdgeRight>, u32, u32, u32, u32>;
  } else if (form.has(Modifier::kRc16)) {
    handler = &map3<kPrmtMode<Permutation::kReplicate16>, u32, u32, u32, u32>;
  }
  return ternary(handler, kB32, kB32, kB32, kB32);
}

template <bool Left>
Selection select_funnel(const Form& form) {
  return ternary(form.has(Modifier::kClamp) ? &map3<kShf<Left, true>, u32, u32, u32, u32>
                                            : &map3<kShf<Left, false>, u32, u32, u32, u32>,
                 kB32, kB32, kB32, kU32);
}

Selection select_field(const Form& form) {
  const ptx::ScalarType type = form.type();
  if (form.opcode == Opcode::kBfe) {
    const auto extract = []<class T>(TypeTag<T>) -> Handler {
      return &map3<kBfe<T>, T, T, u32, u32>;
    };
    return ternary(for_integer(type, extract), type, type, kU32, kU32);
  }
  if (form.opcode == Opcode::kBfi) {
    const bool wide = ptx::size_of(type) == 8;
    return Selection{.handler = wide ? &map4<kBfi<u64>, u64, u64, u64, u32, u32>
                                     : &map4<kBfi<u32>, u32, u32, u32, u32, u32>,
                     .d = type,
                     .sources = {type, type, kU32, kU32},
                     .source_count = 4};
  }
  if (form.opcode == Opcode::kLop3) {
    return Selection{
        .handler = form.has(Modifier::kAnd) || form.has(Modifier::kOr) ? nullptr : &lop3,
        .d = kB32,
        .sources = {kB32, kB32, kB32, kU32},
        .source_count = 4};
  }
  return binary(form.has(Modifier::kWrap) ? &map2<kBmsk<false>, u32, u32, u32>
                                          : &map2<kBmsk<true>, u32, u32, u32>,
                kB32, kU32, kU32);
}

}  // namespace

Selection select_bits(const Form& form) {
  const Opcode op = form.opcode;
  if (op == Opcode::kAnd || op == Opcode::kOr || op == Opcode::kXor || op == Opcode::kNot ||
      op == Opcode::kCnot) {
    return select_logic(form);
  }
  if (op == Opcode::kShl || op == Opcode::kShr) {
    return select_shift(form);
  }
  if (op == Opcode::kPopc || op == Opcode::kClz || op == Opcode::kBrev || op == Opcode::kBfind) {
    return select_count(form);
  }
  if (op == Opcode::kBfe || op == Opcode::kBfi || op == Opcode::kLop3 || op == Opcode::kBmsk) {
    return select_field(form);
  }
  if (op == Opcode::kPrmt) {
    return select_permutation(form);
  }
  if (op == Opcode::kShf) {
    return form.has(Modifier::kL) ? select_funnel<true>(form) : select_funnel<false>(form);
  }
  if (op == Opcode::kFns) {
    return ternary(&map3<kFns, u32, u32, u32, s32>, kB32, kB32, kB32, kS32);
  }
  return {};
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
