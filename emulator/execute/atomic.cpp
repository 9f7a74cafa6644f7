// atom and red: each lane's is one atomic operation of the host, in lane order.
#include <bit>
#include <cstring>

#include "emulator/execute/asynchronous.h"
#include "emulator/execute/control.h"
#include "emulator/execute/lanes/addresses.h"
#include "emulator/state/host_address.h"

namespace barracuda::emulator {

using baseline::Addresses;
using baseline::Lane;
using baseline::source;
using baseline::target;

namespace {

enum class Op : std::uint8_t {
  kAdd,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kExchange,
  kCas,
  kIncrement,
  kDecrement
};

// What is stored when `before` was there.
template <class T, Op Kind>
T next_value(T before, T operand) {
  switch (Kind) {
    case Op::kMin:
      return operand < before ? operand : before;
    case Op::kMax:
      return before < operand ? operand : before;
    case Op::kIncrement:
      return before >= operand ? T{0} : static_cast<T>(before + T{1});
    case Op::kDecrement:
      return before == T{0} || before > operand ? operand : static_cast<T>(before - T{1});
    case Op::kAdd:
      return static_cast<T>(before + operand);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kExchange:
    case Op::kCas:
      return operand;
  }
  return operand;
}

template <class T, Op Kind>
Lane<T> by_exchange(Lane<T>* location, T operand) {
  Lane<T> before = __atomic_load_n(location, __ATOMIC_RELAXED);
  Lane<T> after = 0;
  do {
    after = baseline::to_lane<T>(next_value<T, Kind>(baseline::from_lane<T>(before), operand));
  } while (!__atomic_compare_exchange_n(location, &before, after, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  return before;
}

template <class T, Op Kind>
Lane<T> perform(Lane<T>* location, Lane<T> operand, Lane<T> second) {
  if constexpr (Kind == Op::kAdd && std::is_integral_v<T>) {
    return __atomic_fetch_add(location, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (Kind == Op::kAnd) {
    return __atomic_fetch_and(location, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (Kind == Op::kOr) {
    return __atomic_fetch_or(location, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (Kind == Op::kXor) {
    return __atomic_fetch_xor(location, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (Kind == Op::kExchange) {
    return __atomic_exchange_n(location, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (Kind == Op::kCas) {
    Lane<T> expected = operand;
    __atomic_compare_exchange_n(location, &expected, second, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return expected;
  } else {
    return by_exchange<T, Kind>(location, baseline::from_lane<T>(operand));
  }
}

template <class T, Op Kind>
Step atomic(Context& c, const Instruction& in, std::uint32_t mask) {
  if (meets_first(c)) {
    return Step::kSwitch;
  }
  Addresses where;
  const Access access{.bytes = sizeof(T), .is_write = true};
  const bool resolved = static_cast<Place>(in.flags) == Place::kShared
                            ? baseline::resolve<Place::kShared>(c, in, mask, access, where)
                            : baseline::resolve<Place::kGeneric>(c, in, mask, access, where);
  if (!resolved) {
    return Step::kSwitch;
  }
  const auto* operand = source<Lane<T>>(c, in.b);
  const auto* second = Kind == Op::kCas ? source<Lane<T>>(c, in.c) : operand;
  Lane<T>* d = in.d == kNoSlot ? nullptr : target<Lane<T>>(c, in.d);
  bool has_failed = Kind == Op::kCas;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    auto* location = host_address<Lane<T>>(where.at[lane]);
    const Lane<T> before = perform<T, Kind>(location, operand[lane], second[lane]);
    has_failed = has_failed && before != operand[lane];
    if (d != nullptr) {
      d[lane] = before;
    }
  }
  charge_poll(c);
  // Lanes that have all failed try again before others come.
  c.warp->has_met = c.warp->has_met || has_failed;
  return Step::kNext;
}

// 16 bits wide: cas and exch.
template <bool Cas>
Step atomic_16(Context& c, const Instruction& in, std::uint32_t mask) {
  if (meets_first(c)) {
    return Step::kSwitch;
  }
  Addresses where;
  const Access access{.bytes = 2, .is_write = true};
  const bool resolved = static_cast<Place>(in.flags) == Place::kShared
                            ? baseline::resolve<Place::kShared>(c, in, mask, access, where)
                            : baseline::resolve<Place::kGeneric>(c, in, mask, access, where);
  if (!resolved) {
    return Step::kSwitch;
  }
  const auto* operand = source<std::uint32_t>(c, in.b);
  const auto* second = Cas ? source<std::uint32_t>(c, in.c) : operand;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    auto* location = host_address<std::uint16_t>(where.at[lane]);
    auto before = static_cast<std::uint16_t>(operand[lane]);
    if constexpr (Cas) {
      __atomic_compare_exchange_n(location, &before, static_cast<std::uint16_t>(second[lane]),
                                  false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    } else {
      before = __atomic_exchange_n(location, before, __ATOMIC_SEQ_CST);
    }
    if (in.d != kNoSlot) {
      target<std::uint32_t>(c, in.d)[lane] = before;
    }
  }
  charge_poll(c);
  return Step::kNext;
}

// One element of a copy that reduces: memory's value and the operand's, wherever they lie.
template <class T, Op Kind>
void reduce_element(std::byte* location, const std::byte* operand) {
  Lane<T> value{};
  std::memcpy(&value, operand, sizeof(value));
  perform<T, Kind>(reinterpret_cast<Lane<T>*>(location), value, value);
}

template <class Unsigned, class Signed, class Real>
Reduction select_sized_reduction(const Form& form, bool is_signed, bool is_real) {
  if (form.has(Modifier::kAdd)) {
    return is_real ? &reduce_element<Real, Op::kAdd> : &reduce_element<Unsigned, Op::kAdd>;
  }
  if (is_real) {
    return nullptr;
  }
  if (form.has(Modifier::kMin)) {
    return is_signed ? &reduce_element<Signed, Op::kMin> : &reduce_element<Unsigned, Op::kMin>;
  }
  if (form.has(Modifier::kMax)) {
    return is_signed ? &reduce_element<Signed, Op::kMax> : &reduce_element<Unsigned, Op::kMax>;
  }
  if (form.has(Modifier::kInc)) {
    return &reduce_element<Unsigned, Op::kIncrement>;
  }
  if (form.has(Modifier::kDec)) {
    return &reduce_element<Unsigned, Op::kDecrement>;
  }
  return form.has(Modifier::kAnd)   ? &reduce_element<Unsigned, Op::kAnd>
         : form.has(Modifier::kOr)  ? &reduce_element<Unsigned, Op::kOr>
         : form.has(Modifier::kXor) ? &reduce_element<Unsigned, Op::kXor>
                                    : nullptr;
}

template <class Unsigned, class Signed, class Real>
Handler select_sized(const Form& form, bool is_signed, bool is_real) {
  if (form.has(Modifier::kAdd)) {
    return is_real ? &atomic<Real, Op::kAdd> : &atomic<Unsigned, Op::kAdd>;
  }
  if (is_real) {
    return nullptr;
  }
  if (form.has(Modifier::kMin)) {
    return is_signed ? &atomic<Signed, Op::kMin> : &atomic<Unsigned, Op::kMin>;
  }
  if (form.has(Modifier::kMax)) {
    return is_signed ? &atomic<Signed, Op::kMax> : &atomic<Unsigned, Op::kMax>;
  }
  if (form.has(Modifier::kAnd)) {
    return &atomic<Unsigned, Op::kAnd>;
  }
  if (form.has(Modifier::kOr)) {
    return &atomic<Unsigned, Op::kOr>;
  }
  if (form.has(Modifier::kXor)) {
    return &atomic<Unsigned, Op::kXor>;
  }
  if (form.has(Modifier::kExch)) {
    return &atomic<Unsigned, Op::kExchange>;
  }
  if (form.has(Modifier::kCas)) {
    return &atomic<Unsigned, Op::kCas>;
  }
  if (form.has(Modifier::kInc)) {
    return &atomic<Unsigned, Op::kIncrement>;
  }
  return form.has(Modifier::kDec) ? &atomic<Unsigned, Op::kDecrement> : nullptr;
}

}  // namespace

Handler select_atomic(const Form& form, const ptx::Effect& effect) {
  using enum ptx::ScalarType;
  const ptx::ScalarType type = form.type();
  if (effect.elements != 1) {
    return nullptr;
  }
  const std::uint32_t size = ptx::size_of(type);
  if (size == 2) {
    return form.has(Modifier::kCas)    ? &atomic_16<true>
           : form.has(Modifier::kExch) ? &atomic_16<false>
                                       : nullptr;
  }
  const bool is_signed = type == kS32 || type == kS64;
  if (size == 4) {
    return select_sized<std::uint32_t, std::int32_t, float>(form, is_signed, type == kF32);
  }
  return size == 8
             ? select_sized<std::uint64_t, std::int64_t, double>(form, is_signed, type == kF64)
             : nullptr;
}

Reduction select_reduction(const Form& form, ptx::ScalarType type) {
  using enum ptx::ScalarType;
  const std::uint32_t size = ptx::size_of(type);
  const bool is_signed = type == kS32 || type == kS64;
  if (size == 4) {
    return select_sized_reduction<std::uint32_t, std::int32_t, float>(form, is_signed,
                                                                      type == kF32);
  }
  return size == 8 ? select_sized_reduction<std::uint64_t, std::int64_t, double>(form, is_signed,
                                                                                 type == kF64)
                   : nullptr;
}

}  // namespace barracuda::emulator
