// One operation for 32 lanes. A handler is a loop that the compiler vectorises: over all lanes and
// stored directly when all take part, else computed for all and blended, so an operation must be
// harmless for any bits. This header and what includes it are compiled once for each target, in the
// target's own namespace.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "emulator/execute/form.h"
#include "emulator/state/context.h"

#ifndef BARRACUDA_EXECUTE_TARGET
#  define BARRACUDA_EXECUTE_TARGET baseline
#endif

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
using Lane = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T>
[[gnu::always_inline]] inline T from_lane(Lane<T> lane) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(lane);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<u16>(lane));
  } else {
    return std::bit_cast<T>(lane);
  }
}

// A value narrower than its register is extended by its own sign.
template <class T>
[[gnu::always_inline]] inline Lane<T> to_lane(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<Lane<T>>(static_cast<std::make_signed_t<Lane<T>>>(value));
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<u16>(value);
  } else {
    return std::bit_cast<Lane<T>>(value);
  }
}

template <class L>
[[gnu::always_inline]] inline const L* source(const Context& c, Slot slot) {
  return reinterpret_cast<const L*>(c.bases[slot >> 31] + (slot & ~kConstantSlot));
}

template <class L>
[[gnu::always_inline]] inline L* target(const Context& c, Slot slot) {
  return reinterpret_cast<L*>(c.bases[0] + slot);
}

[[gnu::always_inline]] inline u32 predicate(const Context& c, Slot slot) {
  return *source<u32>(c, slot);
}

[[gnu::always_inline]] inline void set_predicate(const Context& c, Slot slot, u32 value, u32 mask) {
  u32* p = target<u32>(c, slot);
  *p = (*p & ~mask) | (value & mask);
}

inline constexpr u32 kBit[kLanes] = {
    1U << 0,  1U << 1,  1U << 2,  1U << 3,  1U << 4,  1U << 5,  1U << 6,  1U << 7,
    1U << 8,  1U << 9,  1U << 10, 1U << 11, 1U << 12, 1U << 13, 1U << 14, 1U << 15,
    1U << 16, 1U << 17, 1U << 18, 1U << 19, 1U << 20, 1U << 21, 1U << 22, 1U << 23,
    1U << 24, 1U << 25, 1U << 26, 1U << 27, 1U << 28, 1U << 29, 1U << 30, 1U << 31};

// One of two by a mask's bit. AVX2 chooses; the baseline, which has no stores and loads under a
// mask, would go lane by lane and combines bits instead.
template <class L>
[[gnu::always_inline]] inline L choose(bool first, L yes, L no) {
#ifdef __AVX2__
  return first ? yes : no;
#else
  using Bits = std::conditional_t<sizeof(L) == 8, u64, u32>;
  const Bits chosen = first ? ~Bits{0} : Bits{0};
  const auto other = std::bit_cast<Bits>(no);
  return std::bit_cast<L>(other ^ ((other ^ std::bit_cast<Bits>(yes)) & chosen));
#endif
}

template <class L>
[[gnu::always_inline]] inline void blend(L* d, const L* result, u32 mask) {
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) {
    d[i] = choose((mask & kBit[i]) != 0, result[i], d[i]);
  }
}

// Fills d where the mask says, from compute(lane).
template <class L, class Compute>
[[gnu::always_inline]] inline void fill(L* d, u32 mask, Compute compute) {
  if (mask == kFullMask) [[likely]] {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) {
      d[i] = compute(i);
    }
    return;
  }
  L result[kLanes];
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) {
    result[i] = compute(i);
  }
  blend(d, result, mask);
}

template <auto Op, class D, class A>
Step map1(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<Lane<A>>(c, in.a);
  fill(target<Lane<D>>(c, in.d), mask,
       [&](int i) { return to_lane<D>(static_cast<D>(Op(from_lane<A>(a[i])))); });
  return Step::kNext;
}

template <auto Op, class D, class A, class B>
Step map2(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<Lane<A>>(c, in.a);
  const auto* b = source<Lane<B>>(c, in.b);
  fill(target<Lane<D>>(c, in.d), mask, [&](int i) {
    return to_lane<D>(static_cast<D>(Op(from_lane<A>(a[i]), from_lane<B>(b[i]))));
  });
  return Step::kNext;
}

template <auto Op, class D, class A, class B, class C>
Step map3(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<Lane<A>>(c, in.a);
  const auto* b = source<Lane<B>>(c, in.b);
  const auto* third = source<Lane<C>>(c, in.c);
  fill(target<Lane<D>>(c, in.d), mask, [&](int i) {
    return to_lane<D>(
        static_cast<D>(Op(from_lane<A>(a[i]), from_lane<B>(b[i]), from_lane<C>(third[i]))));
  });
  return Step::kNext;
}

template <auto Op, class D, class A, class B, class C, class E>
Step map4(Context& c, const Instruction& in, u32 mask) {
  const auto* a = source<Lane<A>>(c, in.a);
  const auto* b = source<Lane<B>>(c, in.b);
  const auto* third = source<Lane<C>>(c, in.c);
  const auto* fourth = source<Lane<E>>(c, in.e);
  fill(target<Lane<D>>(c, in.d), mask, [&](int i) {
    return to_lane<D>(static_cast<D>(Op(from_lane<A>(a[i]), from_lane<B>(b[i]),
                                        from_lane<C>(third[i]), from_lane<E>(fourth[i]))));
  });
  return Step::kNext;
}

// The lanes for which compute(lane) is true.
template <class Compute>
[[gnu::always_inline]] inline u32 lanes_where(Compute compute) {
  u32 result = 0;
  for (int i = 0; i < kLanes; ++i) {
    result |= compute(i) ? kBit[i] : 0U;
  }
  return result;
}

// --- from a type name to a template argument ---

template <class T>
struct TypeTag {
  using type = T;
};

// visit(TypeTag<T>{}) for the integer type of that width and signedness; bits are unsigned.
template <class Visit>
Handler for_integer(ptx::ScalarType type, Visit visit) {
  using enum ptx::ScalarType;
  if (type == kU32 || type == kB32) {
    return visit(TypeTag<u32>{});
  }
  if (type == kS32) {
    return visit(TypeTag<s32>{});
  }
  if (type == kU64 || type == kB64) {
    return visit(TypeTag<u64>{});
  }
  if (type == kS64) {
    return visit(TypeTag<s64>{});
  }
  if (type == kU16 || type == kB16) {
    return visit(TypeTag<u16>{});
  }
  return type == kS16 ? visit(TypeTag<s16>{}) : nullptr;
}

template <class Visit>
Handler for_integer_or_byte(ptx::ScalarType type, Visit visit) {
  using enum ptx::ScalarType;
  if (type == kU8 || type == kB8) {
    return visit(TypeTag<u8>{});
  }
  return type == kS8 ? visit(TypeTag<s8>{}) : for_integer(type, visit);
}

template <class Visit>
Handler for_float(ptx::ScalarType type, Visit visit) {
  if (type == ptx::ScalarType::kF32) {
    return visit(TypeTag<float>{});
  }
  return type == ptx::ScalarType::kF64 ? visit(TypeTag<double>{}) : nullptr;
}

[[gnu::always_inline]] inline Selection unary(Handler handler, ptx::ScalarType d,
                                              ptx::ScalarType a) {
  return Selection{.handler = handler, .d = d, .sources = {a}, .source_count = 1};
}

[[gnu::always_inline]] inline Selection binary(Handler handler, ptx::ScalarType d,
                                               ptx::ScalarType a, ptx::ScalarType b) {
  return Selection{.handler = handler, .d = d, .sources = {a, b}, .source_count = 2};
}

[[gnu::always_inline]] inline Selection ternary(Handler handler, ptx::ScalarType d,
                                                ptx::ScalarType a, ptx::ScalarType b,
                                                ptx::ScalarType c) {
  return Selection{.handler = handler, .d = d, .sources = {a, b, c}, .source_count = 3};
}

Selection select_integer(const Form& form);
Selection select_bits(const Form& form);
Selection select_carry(const Form& form);
Selection select_float(const Form& form);
Selection select_half(const Form& form);
Selection select_comparison(const Form& form);
Selection select_conversion(const Form& form);
Selection select_function(const Form& form);
Selection select_move(const Form& form);

Handler select_load(ptx::ScalarType element, Place place, bool strong);
Handler select_store(ptx::ScalarType element, Place place, bool strong);

const LaneHandlers& handlers();

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
