// shfl, vote, match, redux, elect, bar.warp.sync: the lanes of a member mask exchange values once
// all of them that have not exited are there.
#include "emulator/state/collective.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/execute/control.h"
#include "emulator/execute/lanes/lanes.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/launch.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

using baseline::predicate;
using baseline::set_predicate;
using baseline::source;
using baseline::target;

namespace {

using std::uint32_t;
using std::uint64_t;

// The lanes of `lanes` whose value is that of `lane`.
template <class T>
uint32_t lanes_like(const T* values, uint32_t lanes, int lane) {
  uint32_t same = 0;
  for (const int other : SetBits<int>(lanes)) {
    same |= values[other] == values[lane] ? uint32_t{1} << other : 0U;
  }
  return same;
}

// Calls exchange(group) for each group of lanes with one member mask, once all groups are complete.
template <class Exchange>
Step gather(Context& c, const Instruction& in, uint32_t mask, Exchange exchange) {
  const auto slot = static_cast<Slot>(in.immediate);
  if (slot == kNoSlot) {  // known to be complete
    exchange(mask);
    return Step::kNext;
  }
  const auto* members = source<uint32_t>(c, slot);
  const bool uniform = (slot & kConstantSlot) != 0;
  for (uint32_t rest = mask; rest != 0;) {
    const int lane = std::countr_zero(rest);
    const uint32_t group = uniform ? mask : lanes_like(members, rest, lane);
    const uint32_t wanted = members[lane] | group;
    if ((wanted & c.warp->live & ~group) != 0) {
      return wait_for_members(c, in, {.mask = mask, .group = group, .members = wanted});
    }
    rest &= ~group;
  }
  const bool is_one = uniform || c.launch->mixes_member_masks;
  for (uint32_t rest = mask; rest != 0;) {
    const uint32_t group = is_one ? mask : lanes_like(members, rest, std::countr_zero(rest));
    exchange(group);
    rest &= ~group;
  }
  return Step::kNext;
}

enum class Shuffle : std::uint8_t { kUp, kDown, kButterfly, kIndex };

struct ShuffleSource {
  int lane = 0;
  bool valid = false;
};

// PTX ISA 9.7.9.6: the segment and the clamp come from operand c, the distance from b.
template <Shuffle Mode>
ShuffleSource shuffle_source(int lane, uint32_t distance, uint32_t control) {
  const auto clamp = static_cast<int>(control & 31),
             segment = static_cast<int>((control >> 8) & 31);
  const auto offset = static_cast<int>(distance & 31);
  const int most = (lane & segment) | (clamp & ~segment);
  const int least = lane & segment;
  int from = 0;
  bool valid = false;
  if constexpr (Mode == Shuffle::kUp) {
    from = lane - offset;
    valid = from >= most;
  } else if constexpr (Mode == Shuffle::kDown) {
    from = lane + offset;
    valid = from <= most;
  } else if constexpr (Mode == Shuffle::kButterfly) {
    from = lane ^ offset;
    valid = from <= most;
  } else {
    from = least | (offset & ~segment);
    valid = from <= most;
  }
  return {.lane = valid ? from : lane, .valid = valid};
}

template <Shuffle Mode>
Step shuffle(Context& c, const Instruction& in, uint32_t mask) {
  return gather(c, in, mask, [&](uint32_t group) {
    const auto* distance = source<uint32_t>(c, in.b);
    const auto* control = source<uint32_t>(c, in.c);
    // The result may lie in the registers of an operand: all is read before it is written.
    uint32_t before[kLanes];
    std::copy_n(source<uint32_t>(c, in.a), kLanes, before);
    uint32_t from[kLanes];
    bool is_valid[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const ShuffleSource found = shuffle_source<Mode>(lane, distance[lane], control[lane]);
      from[lane] = static_cast<uint32_t>(found.lane);
      is_valid[lane] = found.valid;
    }
    if (in.d != kNoSlot) {
      baseline::fill(target<uint32_t>(c, in.d), group,
                     [&before, &from](int lane) { return before[from[lane] & 31]; });
    }
    if (in.e != kNoSlot) {
      set_predicate(c, in.e,
                    baseline::lanes_where([&is_valid](int lane) { return is_valid[lane]; }), group);
    }
  });
}

enum class Vote : std::uint8_t { kAll, kAny, kUniform, kBallot };

template <Vote Mode>
Step vote(Context& c, const Instruction& in, uint32_t mask) {
  return gather(c, in, mask, [&](uint32_t group) {
    const uint32_t yes = predicate(c, in.a) & group;
    if constexpr (Mode == Vote::kBallot) {
      baseline::fill(target<uint32_t>(c, in.d), group, [yes](int) { return yes; });
    } else {
      const bool result = Mode == Vote::kAll   ? yes == group
                          : Mode == Vote::kAny ? yes != 0
                                               : yes == 0 || yes == group;
      set_predicate(c, in.d, result ? kFullMask : 0, group);
    }
  });
}

template <class T, bool All>
Step match(Context& c, const Instruction& in, uint32_t mask) {
  return gather(c, in, mask, [&](uint32_t group) {
    T values[kLanes];
    std::copy_n(source<T>(c, in.a), kLanes, values);
    uint32_t agree = 0;
    for (const int lane : SetBits<int>(group)) {
      const uint32_t same = lanes_like(values, group, lane);
      const uint32_t result = All ? (same == group ? group : 0) : same;
      agree |= same == group ? uint32_t{1} << lane : 0U;
      if (in.d != kNoSlot) {
        target<uint32_t>(c, in.d)[lane] = result;
      }
    }
    if (in.e != kNoSlot) {
      set_predicate(c, in.e, agree, group);
    }
  });
}

enum class Reduce : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

template <class T, Reduce Op>
T combine(T left, T right) {
  switch (Op) {
    case Reduce::kAdd:
      return static_cast<T>(static_cast<uint32_t>(left) + static_cast<uint32_t>(right));
    case Reduce::kMin:
      return std::min(left, right);
    case Reduce::kMax:
      return std::max(left, right);
    case Reduce::kAnd:
      return left & right;
    case Reduce::kOr:
      return left | right;
    case Reduce::kXor:
      return left ^ right;
  }
  return left;
}

template <class T, Reduce Op>
Step reduce(Context& c, const Instruction& in, uint32_t mask) {
  return gather(c, in, mask, [&](uint32_t group) {
    const T* values = source<T>(c, in.a);
    T result = values[std::countr_zero(group)];
    for (uint32_t rest = group & (group - 1); rest != 0; rest &= rest - 1) {
      result = combine<T, Op>(result, values[std::countr_zero(rest)]);
    }
    baseline::fill(target<uint32_t>(c, in.d), group,
                   [result](int) { return static_cast<uint32_t>(result); });
  });
}

// redux of f32: min and max, of magnitudes too; a NaN counts only with .NaN.
constexpr std::uint8_t kMinimum = 1, kMagnitude = 2, kNan = 4;

float combine_floats(float left, float right, std::uint8_t flags) {
  if (left != left || right != right) {
    return (flags & kNan) != 0 ? std::bit_cast<float>(0x7fffffffU) : left != left ? right : left;
  }
  // Of zeros the negative one is less.
  const bool less = left < right || (left == right && std::signbit(left));
  return less == ((flags & kMinimum) != 0) ? left : right;
}

template <std::uint8_t Flags>
Step reduce_floats(Context& c, const Instruction& in, uint32_t mask) {
  return gather(c, in, mask, [&](uint32_t group) {
    const auto* values = source<float>(c, in.a);
    const auto value_of = [&](int lane) {
      return (Flags & kMagnitude) != 0 ? std::fabs(values[lane]) : values[lane];
    };
    float result = value_of(std::countr_zero(group));
    for (uint32_t rest = group & (group - 1); rest != 0; rest &= rest - 1) {
      result = combine_floats(result, value_of(std::countr_zero(rest)), Flags);
    }
    result = result != result ? std::bit_cast<float>(0x7fffffffU) : result;
    baseline::fill(target<float>(c, in.d), group, [result](int) { return result; });
  });
}

Handler select_float_reduction(const Form& form) {
  const auto flags = static_cast<std::size_t>((form.has(Modifier::kMin) ? kMinimum : 0) |
                                              (form.has(Modifier::kAbs) ? kMagnitude : 0) |
                                              (form.has(Modifier::kNaN) ? kNan : 0));
  constexpr Handler kHandlers[] = {&reduce_floats<0>, &reduce_floats<1>, &reduce_floats<2>,
                                   &reduce_floats<3>, &reduce_floats<4>, &reduce_floats<5>,
                                   &reduce_floats<6>, &reduce_floats<7>};
  return form.has(Modifier::kMin) || form.has(Modifier::kMax) ? kHandlers[flags] : nullptr;
}

Step elect(Context& c, const Instruction& in, uint32_t mask) {
  return gather(c, in, mask, [&](uint32_t group) {
    const auto leader = static_cast<uint32_t>(std::countr_zero(group));
    if (in.d != kNoSlot) {
      baseline::fill(target<uint32_t>(c, in.d), group, [leader](int) { return leader; });
    }
    if (in.e != kNoSlot) {
      set_predicate(c, in.e, uint32_t{1} << leader, group);
    }
  });
}

Step warp_barrier(Context& c, const Instruction& in, uint32_t mask) {
  return gather(c, in, mask, [&](uint32_t group) {
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    if (in.weak != nullptr) {
      drain(c, group, wire::Scope::kCta, WeakEnd::kBarrier, Pace::kAtOnce);
      reset_windows(c, group);
    }
  });
}

using enum OperandClass;
constexpr CollectiveShape kShuffleShape{
    .d = kWord, .e = kPredicate, .a = kWord, .b = kWord, .c = kWord};
constexpr CollectiveShape kBallotShape{
    .d = kWord, .e = kNone, .a = kPredicate, .b = kNone, .c = kNone};
constexpr CollectiveShape kVoteShape{
    .d = kPredicate, .e = kNone, .a = kPredicate, .b = kNone, .c = kNone};
constexpr CollectiveShape kMatchShape{
    .d = kWord, .e = kPredicate, .a = kWord, .b = kNone, .c = kNone};
constexpr CollectiveShape kMatchWideShape{
    .d = kWord, .e = kPredicate, .a = kDoubleWord, .b = kNone, .c = kNone};
constexpr CollectiveShape kReduceShape{.d = kWord, .e = kNone, .a = kWord, .b = kNone, .c = kNone};
constexpr CollectiveShape kElectShape{
    .d = kWord, .e = kPredicate, .a = kNone, .b = kNone, .c = kNone};
constexpr CollectiveShape kBarrierShape{};

Collective select_shuffle(const Form& form) {
  const Handler handler = form.has(Modifier::kUp)     ? &shuffle<Shuffle::kUp>
                          : form.has(Modifier::kDown) ? &shuffle<Shuffle::kDown>
                          : form.has(Modifier::kBfly) ? &shuffle<Shuffle::kButterfly>
                          : form.has(Modifier::kIdx)  ? &shuffle<Shuffle::kIndex>
                                                      : nullptr;
  return {.handler = handler, .shape = &kShuffleShape};
}

Collective select_vote(const Form& form) {
  if (form.has(Modifier::kBallot)) {
    return {.handler = &vote<Vote::kBallot>, .shape = &kBallotShape};
  }
  const Handler handler = form.has(Modifier::kAll)   ? &vote<Vote::kAll>
                          : form.has(Modifier::kAny) ? &vote<Vote::kAny>
                          : form.has(Modifier::kUni) ? &vote<Vote::kUniform>
                                                     : nullptr;
  return {.handler = handler, .shape = &kVoteShape};
}

Collective select_match(const Form& form) {
  const bool all = form.has(Modifier::kAll);
  if (ptx::size_of(form.type()) == 8) {
    return {.handler = all ? &match<uint64_t, true> : &match<uint64_t, false>,
            .shape = &kMatchWideShape};
  }
  return {.handler = all ? &match<uint32_t, true> : &match<uint32_t, false>, .shape = &kMatchShape};
}

Collective select_reduce(const Form& form) {
  using std::int32_t;
  const bool is_signed = form.type() == ptx::ScalarType::kS32;
  Handler handler = nullptr;
  if (form.type() == ptx::ScalarType::kF32) {
    return {.handler = select_float_reduction(form), .shape = &kReduceShape};
  }
  if (form.has(Modifier::kAdd)) {
    handler = &reduce<uint32_t, Reduce::kAdd>;
  } else if (form.has(Modifier::kMin)) {
    handler = is_signed ? &reduce<int32_t, Reduce::kMin> : &reduce<uint32_t, Reduce::kMin>;
  } else if (form.has(Modifier::kMax)) {
    handler = is_signed ? &reduce<int32_t, Reduce::kMax> : &reduce<uint32_t, Reduce::kMax>;
  } else if (form.has(Modifier::kAnd)) {
    handler = &reduce<uint32_t, Reduce::kAnd>;
  } else if (form.has(Modifier::kOr)) {
    handler = &reduce<uint32_t, Reduce::kOr>;
  } else if (form.has(Modifier::kXor)) {
    handler = &reduce<uint32_t, Reduce::kXor>;
  }
  return {.handler = handler, .shape = &kReduceShape};
}

}  // namespace

Collective select_collective(const Form& form) {
  const Opcode op = form.opcode;
  if (op == Opcode::kShfl) {
    return select_shuffle(form);
  }
  if (op == Opcode::kVote) {
    return select_vote(form);
  }
  if (op == Opcode::kMatch) {
    return select_match(form);
  }
  if (op == Opcode::kRedux) {
    return select_reduce(form);
  }
  if (op == Opcode::kElect) {
    return {.handler = &elect, .shape = &kElectShape};
  }
  return op == Opcode::kBar || op == Opcode::kBarrier
             ? Collective{.handler = &warp_barrier, .shape = &kBarrierShape}
             : Collective{};
}

Step execute_active_mask(Context& c, const Instruction& in, std::uint32_t mask) {
  const std::uint32_t active = c.active;
  baseline::fill(target<std::uint32_t>(c, in.d), mask, [active](int) { return active; });
  return Step::kNext;
}

}  // namespace barracuda::emulator
