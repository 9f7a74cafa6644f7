// setp, set, selp, slct.
#include "emulator/execute/lanes/float.h"
#include "emulator/execute/lanes/relation.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

// How the result is combined with predicate c, and whether operands are flushed.
constexpr u8 kCombineAnd = 1, kCombineOr = 2, kCombineXor = 3, kCombineBits = 3;
constexpr u8 kFtz = 4, kFloatResult = 8;

template <class T, Relation R>
[[gnu::always_inline]] inline u32 compare(const Context& c, const Instruction& in) {
  const auto* a = source<Lane<T>>(c, in.a);
  const auto* b = source<Lane<T>>(c, in.b);
  if constexpr (std::is_same_v<T, float>) {
    if ((in.flags & kFtz) != 0) {
      return lanes_where(
          [&](int i) { return holds<R>(flush(from_lane<T>(a[i])), flush(from_lane<T>(b[i]))); });
    }
  }
  return lanes_where([&](int i) { return holds<R>(from_lane<T>(a[i]), from_lane<T>(b[i])); });
}

[[gnu::always_inline]] inline u32 combine(const Instruction& in, u32 result, u32 other) {
  switch (in.flags & kCombineBits) {
    case kCombineAnd:
      return result & other;
    case kCombineOr:
      return result | other;
    case kCombineXor:
      return result ^ other;
    default:
      return result;
  }
}

template <class T, Relation R>
Step set_predicates(Context& c, const Instruction& in, u32 mask) {
  const u32 result = compare<T, R>(c, in);
  if (in.flags == 0 && in.e == kNoSlot) [[likely]] {
    set_predicate(c, in.d, result, mask);
    return Step::kNext;
  }
  const u32 other = (in.flags & kCombineBits) != 0 ? predicate(c, in.c) : 0;
  if (in.e != kNoSlot) {
    set_predicate(c, in.e, combine(in, ~result, other), mask);
  }
  if (in.d != kNoSlot) {
    set_predicate(c, in.d, combine(in, result, other), mask);
  }
  return Step::kNext;
}

template <class T, Relation R>
Step set_words(Context& c, const Instruction& in, u32 mask) {
  const u32 other = (in.flags & kCombineBits) != 0 ? predicate(c, in.c) : 0;
  const u32 result = combine(in, compare<T, R>(c, in), other);
  const u32 yes = (in.flags & kFloatResult) != 0 ? 0x3f800000U : ~u32{0};
  fill(target<u32>(c, in.d), mask, [&](int i) { return (result & kBit[i]) != 0 ? yes : 0U; });
  return Step::kNext;
}

template <class T, bool Words, Relation R>
constexpr Handler kCompareHandler = Words ? &set_words<T, R> : &set_predicates<T, R>;

template <class T, bool Words>
Handler handler_of(Relation relation) {
  using enum Relation;
  static constexpr Handler kHandlers[] = {
      kCompareHandler<T, Words, kEq>,  kCompareHandler<T, Words, kNe>,
      kCompareHandler<T, Words, kLt>,  kCompareHandler<T, Words, kLe>,
      kCompareHandler<T, Words, kGt>,  kCompareHandler<T, Words, kGe>,
      kCompareHandler<T, Words, kEqu>, kCompareHandler<T, Words, kNeu>,
      kCompareHandler<T, Words, kLtu>, kCompareHandler<T, Words, kLeu>,
      kCompareHandler<T, Words, kGtu>, kCompareHandler<T, Words, kGeu>,
      kCompareHandler<T, Words, kNum>, kCompareHandler<T, Words, kNan>};
  return kHandlers[static_cast<int>(relation)];
}

// lo, ls, hi, hs are the unsigned relations of old; unsigned types have the same under plain names.
bool relation_of(const Form& form, Relation& relation) {
  constexpr Modifier kOld[] = {Modifier::kLo, Modifier::kLs, Modifier::kHi, Modifier::kHs};
  constexpr Relation kOldRelations[] = {Relation::kLt, Relation::kLe, Relation::kGt, Relation::kGe};
  for (int i = 0; i < 14; ++i) {
    if (form.has(kRelationNames[i])) {
      relation = static_cast<Relation>(i);
      return true;
    }
  }
  for (int i = 0; i < 4; ++i) {
    if (form.has(kOld[i])) {
      relation = kOldRelations[i];
      return true;
    }
  }
  return false;
}

template <bool Words>
Handler compare_handler(ptx::ScalarType type, Relation relation) {
  const auto visit = [relation]<class T>(TypeTag<T>) -> Handler {
    return handler_of<T, Words>(relation);
  };
  const Handler integer = for_integer(type, visit);
  return integer != nullptr ? integer : for_float(type, visit);
}

Selection select_compare(const Form& form) {
  const bool words = form.opcode == Opcode::kSet;
  const ptx::ScalarType type = form.types[words ? 1 : 0];
  Relation relation{};
  if (!relation_of(form, relation)) {
    return {};
  }
  Selection selection =
      binary(words ? compare_handler<true>(type, relation) : compare_handler<false>(type, relation),
             words ? form.types[0] : kPred, type, type);
  const u8 operation = form.has(Modifier::kAnd)   ? kCombineAnd
                       : form.has(Modifier::kOr)  ? kCombineOr
                       : form.has(Modifier::kXor) ? kCombineXor
                                                  : u8{0};
  if (operation != 0) {
    selection.sources[2] = kPred;
    selection.source_count = 3;
  }
  selection.second_result = !words;
  selection.flags = static_cast<u8>(operation | (form.ftz && type == kF32 ? kFtz : 0) |
                                    (words && form.types[0] == kF32 ? kFloatResult : 0));
  return selection;
}

template <class L>
Step select_by_predicate(Context& c, const Instruction& in, u32 mask) {
  const L* a = source<L>(c, in.a);
  const L* b = source<L>(c, in.b);
  const u32 chosen = predicate(c, in.c);
  fill(target<L>(c, in.d), mask,
       [&](int i) { return choose((chosen & kBit[i]) != 0, a[i], b[i]); });
  return Step::kNext;
}

Step select_predicates(Context& c, const Instruction& in, u32 mask) {
  const u32 chosen = predicate(c, in.c);
  set_predicate(c, in.d, (predicate(c, in.a) & chosen) | (predicate(c, in.b) & ~chosen), mask);
  return Step::kNext;
}

template <class L, class T>
Step select_by_sign(Context& c, const Instruction& in, u32 mask) {
  const L* a = source<L>(c, in.a);
  const L* b = source<L>(c, in.b);
  const T* sign = source<T>(c, in.c);
  fill(target<L>(c, in.d), mask, [&](int i) { return sign[i] >= T{0} ? a[i] : b[i]; });
  return Step::kNext;
}

}  // namespace

Selection select_comparison(const Form& form) {
  const Opcode op = form.opcode;
  if (op == Opcode::kSetp || op == Opcode::kSet) {
    return select_compare(form);
  }
  const ptx::ScalarType type = form.type();
  const bool wide = ptx::size_of(type) == 8;
  if (op == Opcode::kSelp) {
    const Handler words = wide ? &select_by_predicate<u64> : &select_by_predicate<u32>;
    return ternary(type == kPred ? &select_predicates : words, type, type, type, kPred);
  }
  if (op == Opcode::kSlct) {
    const bool by_float = form.types[1] == kF32;
    const Handler words = by_float ? &select_by_sign<u32, float> : &select_by_sign<u32, s32>;
    const Handler doubles = by_float ? &select_by_sign<u64, float> : &select_by_sign<u64, s32>;
    return ternary(wide ? doubles : words, type, type, type, form.types[1]);
  }
  return {};
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
