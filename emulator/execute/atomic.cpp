// atom and red: each lane's is one atomic operation of the host, in lane order.
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
  for (const int lane : SetBits<int>(mask)) {
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
  for (const int lane : SetBits<int>(mask)) {
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

// made<T, Op>() for the operation that the modifiers name and its type: a handler or a reduction.
template <class Unsigned, class Signed, class Real, class Make>
auto select_sized(const Form& form, bool is_signed, bool is_real, const Make& made) {
  if (is_real) {
    return form.has(Modifier::kAdd) ? made.template operator()<Real, Op::kAdd>() : nullptr;
  }
  if (is_signed && form.has(Modifier::kMin)) {
    return made.template operator()<Signed, Op::kMin>();
  }
  if (is_signed && form.has(Modifier::kMax)) {
    return made.template operator()<Signed, Op::kMax>();
  }
  return form.has(Modifier::kAdd)    ? made.template operator()<Unsigned, Op::kAdd>()
         : form.has(Modifier::kMin)  ? made.template operator()<Unsigned, Op::kMin>()
         : form.has(Modifier::kMax)  ? made.template operator()<Unsigned, Op::kMax>()
         : form.has(Modifier::kInc)  ? made.template operator()<Unsigned, Op::kIncrement>()
         : form.has(Modifier::kDec)  ? made.template operator()<Unsigned, Op::kDecrement>()
         : form.has(Modifier::kAnd)  ? made.template operator()<Unsigned, Op::kAnd>()
         : form.has(Modifier::kOr)   ? made.template operator()<Unsigned, Op::kOr>()
         : form.has(Modifier::kXor)  ? made.template operator()<Unsigned, Op::kXor>()
         : form.has(Modifier::kExch) ? made.template operator()<Unsigned, Op::kExchange>()
         : form.has(Modifier::kCas)  ? made.template operator()<Unsigned, Op::kCas>()
                                     : nullptr;
}

// Of 4 or 8 bytes; null of other types.
template <class Make>
auto select_operation(const Form& form, ptx::ScalarType type, const Make& made)
    -> decltype(made.template operator()<std::uint32_t, Op::kAdd>()) {
  using enum ptx::ScalarType;
  const bool is_signed = type == kS32 || type == kS64;
  switch (ptx::size_of(type)) {
    case 4:
      return select_sized<std::uint32_t, std::int32_t, float>(form, is_signed, type == kF32, made);
    case 8:
      return select_sized<std::uint64_t, std::int64_t, double>(form, is_signed, type == kF64, made);
    default:
      return nullptr;
  }
}

}  // namespace

Handler select_atomic(const Form& form, const ptx::Effect& effect) {
  const ptx::ScalarType type = form.type();
  if (effect.elements != 1) {
    return nullptr;
  }
  if (ptx::size_of(type) == 2) {
    return form.has(Modifier::kCas)    ? &atomic_16<true>
           : form.has(Modifier::kExch) ? &atomic_16<false>
                                       : nullptr;
  }
  return select_operation(form, type,
                          []<class T, Op Kind>() -> Handler { return &atomic<T, Kind>; });
}

Reduction select_reduction(const Form& form, ptx::ScalarType type) {
  return select_operation(form, type,
                          []<class T, Op Kind>() -> Reduction { return &reduce_element<T, Kind>; });
}

}  // namespace barracuda::emulator
