// atom and red on vectors, each element of which is one atomic operation, on halves, and on 128
// bits.
#include "emulator/execute/wide_atomic.h"

#include <bit>

#include "emulator/execute/lanes/addresses.h"
#include "emulator/execute/lanes/half.h"
#include "emulator/state/host_address.h"

namespace barracuda::emulator {

using baseline::Addresses;
using baseline::source;
using baseline::target;

namespace {

enum class Op : std::uint8_t { kAdd, kMin, kMax };

template <Op Kind>
float combined(float left, float right) {
  if constexpr (Kind == Op::kAdd) {
    return left + right;
  } else if constexpr (Kind == Op::kMin) {
    return left != left ? right : right < left ? right : left;
  } else {
    return left != left ? right : left < right ? right : left;
  }
}

template <class H, Op Kind>
std::uint32_t combined_half(std::uint32_t left, std::uint32_t right) {
  const float result =
      combined<Kind>(baseline::to_float(std::bit_cast<H>(static_cast<std::uint16_t>(left))),
                     baseline::to_float(std::bit_cast<H>(static_cast<std::uint16_t>(right))));
  return std::bit_cast<std::uint16_t>(baseline::to_half<H>(result));
}

template <Op Kind>
struct Single {
  using Word = std::uint32_t;

  static Word apply(Word before, Word operand) {
    return std::bit_cast<Word>(
        combined<Kind>(std::bit_cast<float>(before), std::bit_cast<float>(operand)));
  }
};

template <class H, Op Kind>
struct Half {
  using Word = std::uint16_t;

  static Word apply(Word before, Word operand) {
    return static_cast<Word>(combined_half<H, Kind>(before, operand));
  }
};

template <class H, Op Kind>
struct HalfPair {
  using Word = std::uint32_t;

  static Word apply(Word before, Word operand) {
    return combined_half<H, Kind>(before, operand) |
           combined_half<H, Kind>(before >> 16, operand >> 16) << 16;
  }
};

template <class Element>
typename Element::Word update(std::uint64_t address, typename Element::Word operand) {
  using Word = typename Element::Word;
  auto* location = host_address<Word>(address);
  Word before = __atomic_load_n(location, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(location, &before, Element::apply(before, operand), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return before;
}

bool resolve_at(Context& c, const Instruction& in, std::uint32_t mask, std::uint32_t bytes,
                Addresses& where) {
  return static_cast<Place>(in.flags) == Place::kShared
             ? baseline::resolve<Place::kShared>(c, in, mask, {.bytes = bytes, .is_write = true},
                                                 where)
             : baseline::resolve<Place::kGeneric>(c, in, mask, {.bytes = bytes, .is_write = true},
                                                  where);
}

template <class Element>
Step vector_atomic(Context& c, const Instruction& in, std::uint32_t mask) {
  if (meets_first(c)) {
    return Step::kSwitch;
  }
  using Word = typename Element::Word;
  const auto& slots = *static_cast<const WideAtomicSlots*>(in.extra);
  Addresses where;
  if (!resolve_at(c, in, mask, static_cast<std::uint32_t>(sizeof(Word)) * in.count, where)) {
    return Step::kSwitch;
  }
  for (const int lane : SetBits<int>(mask)) {
    for (std::size_t k = 0; k < in.count; ++k) {
      const std::uint32_t operand = source<std::uint32_t>(c, slots.operands[k])[lane];
      const Word before =
          update<Element>(where.at[lane] + k * sizeof(Word), static_cast<Word>(operand));
      if (slots.results[k] != kNoSlot) {
        target<std::uint32_t>(c, slots.results[k])[lane] = before;
      }
    }
  }
  charge_poll(c);
  return Step::kNext;
}

// --- 128 bits ---

using Quad = unsigned __int128;
constexpr Slot kHalfBytes = kLanes * 8;

Quad read_quad(const Context& c, Slot slot, int lane) {
  return Quad{source<std::uint64_t>(c, slot + kHalfBytes)[lane]} << 64 |
         source<std::uint64_t>(c, slot)[lane];
}

#ifdef __x86_64__
[[gnu::target("cx16")]]
#endif
Quad exchange_if(Quad* location, Quad expected, Quad wanted) {
  return __sync_val_compare_and_swap(location, expected, wanted);
}

template <bool Compares>
Step atomic_128(Context& c, const Instruction& in, std::uint32_t mask) {
  if (meets_first(c)) {
    return Step::kSwitch;
  }
  Addresses where;
  if (!resolve_at(c, in, mask, 16, where)) {
    return Step::kSwitch;
  }
  for (const int lane : SetBits<int>(mask)) {
    auto* location = host_address<Quad>(where.at[lane]);
    const Quad operand = read_quad(c, in.b, lane);
    Quad before = 0;
    if constexpr (Compares) {
      before = exchange_if(location, operand, read_quad(c, in.c, lane));
    } else {
      for (Quad seen = exchange_if(location, 0, 0);; seen = before) {
        before = exchange_if(location, seen, operand);
        if (before == seen) {
          break;
        }
      }
    }
    if (in.d != kNoSlot) {
      target<std::uint64_t>(c, in.d)[lane] = static_cast<std::uint64_t>(before);
      target<std::uint64_t>(c, in.d + kHalfBytes)[lane] = static_cast<std::uint64_t>(before >> 64);
    }
  }
  charge_poll(c);
  return Step::kNext;
}

template <Op Kind>
Handler select_element(ptx::ScalarType type) {
  using enum ptx::ScalarType;
  if (type == kF32) {
    return Kind == Op::kAdd ? &vector_atomic<Single<Kind>> : nullptr;
  }
  if (type == kF16) {
    return &vector_atomic<Half<_Float16, Kind>>;
  }
  if (type == kF16x2) {
    return &vector_atomic<HalfPair<_Float16, Kind>>;
  }
  if (type == kBf16) {
    return &vector_atomic<Half<baseline::Bfloat16, Kind>>;
  }
  return type == kBf16x2 ? &vector_atomic<HalfPair<baseline::Bfloat16, Kind>> : nullptr;
}

}  // namespace

Handler select_vector_atomic(const Form& form) {
  if (form.has(Modifier::kAdd)) {
    return select_element<Op::kAdd>(form.type());
  }
  if (form.has(Modifier::kMin)) {
    return select_element<Op::kMin>(form.type());
  }
  return form.has(Modifier::kMax) ? select_element<Op::kMax>(form.type()) : nullptr;
}

Handler select_quad_atomic(const Form& form) {
  return form.has(Modifier::kCas)    ? &atomic_128<true>
         : form.has(Modifier::kExch) ? &atomic_128<false>
                                     : nullptr;
}

}  // namespace barracuda::emulator
