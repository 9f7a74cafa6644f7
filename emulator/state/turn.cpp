// The inner loop, and which fragment of a warp it runs: deepest call first, then lowest pc, so that
// lanes that have gone apart meet again; but one that uses up its turn while others could run lets
// the one go on that has waited longest, so that no lane waits for ever.
#include <algorithm>

#include "base/assert.h"
#include "emulator/state/collective.h"
#include "emulator/state/context.h"
#include "emulator/state/warp.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

constexpr std::int32_t kTurn = 2048;

bool is_better(const Fragment& left, const Fragment& right) {
  if (left.frame->depth != right.frame->depth) {
    return left.frame->depth > right.frame->depth;
  }
  return left.pc < right.pc;
}

bool is_ready(const Fragment& fragment) {
  return fragment.mask != 0 && fragment.state == FragmentState::kReady;
}

// Lanes that have met again go on together; fragments without lanes are dropped.
void tidy(Warp& warp) {
  auto& fragments = warp.fragments;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    for (std::size_t j = i + 1; j < fragments.size(); ++j) {
      Fragment& left = fragments[i];
      Fragment& right = fragments[j];
      if (is_ready(left) && is_ready(right) && left.pc == right.pc && left.frame == right.frame) {
        left.mask |= right.mask;
        left.last_turn = std::max(left.last_turn, right.last_turn);
        right.mask = 0;
      }
    }
  }
  std::erase_if(fragments, [](const Fragment& fragment) { return fragment.mask == 0; });
}

struct Choice {
  std::size_t fragment = 0;
  std::uint32_t ready = 0;
};

Choice choose(const Warp& warp, bool longest_waiting) {
  Choice choice;
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& candidate = warp.fragments[i];
    if (!is_ready(candidate)) {
      continue;
    }
    const Fragment& best = warp.fragments[choice.fragment];
    const bool better = choice.ready == 0 || (longest_waiting ? candidate.last_turn < best.last_turn
                                                              : is_better(candidate, best));
    choice.fragment = better ? i : choice.fragment;
    ++choice.ready;
  }
  return choice;
}

std::uint32_t next_meeting(const Warp& warp, const Fragment& running) {
  std::uint32_t pc = ~std::uint32_t{0};
  for (const Fragment& other : warp.fragments) {
    if (is_ready(other) && other.frame == running.frame && other.pc > running.pc) {
      pc = std::min(pc, other.pc);
    }
  }
  return pc;
}

// What is done with each instruction besides.
enum class Attention : std::uint8_t { kNone, kCounts, kObserves };

template <Attention kPays>
void run_instructions(Context& c) {
  Step step = Step::kNext;
  do {
    const Instruction& instruction = c.code[c.pc];
    ++c.pc;
    --c.budget;
    std::uint32_t mask = c.active;
    if (instruction.predicate != kNoSlot) {
      const std::uint32_t predicate =
          *reinterpret_cast<const std::uint32_t*>(c.bases[0] + instruction.predicate);
      mask &= instruction.predicate_negated ? ~predicate : predicate;
      if (mask == 0) {
        continue;
      }
    }
    if constexpr (kPays == Attention::kCounts) {
      c.weak->log.count_instruction(mask);
    }
    if constexpr (kPays == Attention::kObserves) {
      if (c.weak != nullptr && c.weak->log.counts()) {
        c.weak->log.count_instruction(mask);
      }
      const bool matters = instruction.memory != 0 && c.observer != nullptr;
      step = (matters ? c.observer : instruction.handler)(c, instruction, mask);
    } else {
      step = instruction.handler(c, instruction, mask);
    }
  } while (step == Step::kNext && c.budget > 0 && c.pc < c.stop_pc);
}

std::int32_t run_turn(Context& c, std::size_t fragment, std::int32_t budget, bool stops) {
  Warp& warp = *c.warp;
  warp.current = fragment;
  Fragment& running = warp.fragments[fragment];
  running.last_turn = ++warp.turn;
  c.load_fragment(running);
  if (stops) {
    c.stop_pc = next_meeting(warp, running);
  }
  c.turn_budget = budget;
  c.budget = budget;
  if (c.observer != nullptr) {
    run_instructions<Attention::kObserves>(c);
  } else if (c.weak != nullptr && c.weak->log.counts()) {
    run_instructions<Attention::kCounts>(c);
  } else {
    run_instructions<Attention::kNone>(c);
  }
  c.warp->running().pc = c.pc;
  const std::int32_t used = budget - c.budget;
  c.clock += static_cast<std::uint64_t>(used);
  c.turn_budget = c.budget = 0;
  return used;
}

// --- collectives whose lanes wait at different instructions ---

struct Exchange {
  static constexpr std::size_t kSlotBytes = 256;
  alignas(64) std::byte registers[5 * kSlotBytes] = {};
};

void copy_lanes(OperandClass kind, std::byte* to, const std::byte* from, std::uint32_t mask) {
  if (kind == OperandClass::kPredicate) {
    auto* target = reinterpret_cast<std::uint32_t*>(to);
    *target = (*target & ~mask) | (*reinterpret_cast<const std::uint32_t*>(from) & mask);
    return;
  }
  const std::size_t size = kind == OperandClass::kWord ? 4 : 8;
  for (const std::size_t lane : SetBits<std::size_t>(mask)) {
    std::copy_n(from + lane * size, size, to + lane * size);
  }
}

std::byte* operand(const Fragment& fragment, Slot slot) {
  return (slot & kConstantSlot) != 0
             ? fragment.frame->function->constants.get() + (slot & ~kConstantSlot)
             : fragment.frame->registers + slot;
}

using Group = std::vector<Fragment*>;

void execute_apart(Context& c, const Group& group, std::uint32_t mask) {
  Exchange exchange;
  Instruction together = *group.front()->waits_at;
  ASSERT(together.extra != nullptr);
  const auto& shape = *static_cast<const CollectiveShape*>(together.extra);
  const OperandClass kinds[5] = {shape.a, shape.b, shape.c, shape.d, shape.e};
  Slot Instruction::* const slots[5] = {&Instruction::a, &Instruction::b, &Instruction::c,
                                        &Instruction::d, &Instruction::e};
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t place = i * Exchange::kSlotBytes;
    for (const Fragment* fragment : group) {
      const Slot slot = fragment->waits_at->*slots[i];
      if (i < 3 && kinds[i] != OperandClass::kNone) {
        copy_lanes(kinds[i], exchange.registers + place, operand(*fragment, slot), fragment->mask);
      }
      if (slot != kNoSlot) {
        together.*slots[i] = static_cast<Slot>(place);
      }
    }
  }
  // The members are known to have arrived: the member mask is not looked at again.
  together.immediate = static_cast<std::int64_t>(kNoSlot);
  c.bases[0] = exchange.registers;
  c.active = mask;
  together.handler(c, together, mask);
  for (Fragment* fragment : group) {
    for (std::size_t i = 3; i < 5; ++i) {
      const Slot slot = fragment->waits_at->*slots[i];
      if (slot != kNoSlot && kinds[i] != OperandClass::kNone) {
        copy_lanes(kinds[i], operand(*fragment, slot),
                   exchange.registers + i * Exchange::kSlotBytes, fragment->mask);
      }
    }
    ++fragment->pc;
    fragment->state = FragmentState::kReady;
  }
}

struct Meeting {
  Group group;  // empty: somebody is still to come
  std::uint32_t lanes = 0;
  bool same_place = true;
};

// The collective that `waiting` waits for.
Meeting find_meeting(Warp& warp, const Fragment& waiting) {
  Meeting meeting;
  for (Fragment& other : warp.fragments) {
    if (other.mask != 0 && other.state == FragmentState::kCollective &&
        other.members == waiting.members && other.waits_at->handler == waiting.waits_at->handler) {
      meeting.group.push_back(&other);
      meeting.lanes |= other.mask;
      meeting.same_place =
          meeting.same_place && other.pc == waiting.pc && other.frame == waiting.frame;
    }
  }
  const bool is_complete = (waiting.members & warp.live & ~meeting.lanes) == 0;
  if (!is_complete || (!meeting.same_place && waiting.meets_here)) {
    meeting.group.clear();
  }
  return meeting;
}

bool resolve(Context& c, Warp& warp, const Fragment& waiting) {
  const Meeting meeting = find_meeting(warp, waiting);
  if (meeting.same_place) {
    for (Fragment* fragment : meeting.group) {
      fragment->state = FragmentState::kReady;
    }
  } else if (!meeting.group.empty()) {
    execute_apart(c, meeting.group, meeting.lanes);
  }
  return !meeting.group.empty();
}

bool waits_for_members(const Fragment& fragment) {
  return fragment.mask != 0 && fragment.state == FragmentState::kCollective;
}

}  // namespace

bool resolve_collectives(Context& c, Warp& warp) {
  bool resolved = false;
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& fragment = warp.fragments[i];
    if (waits_for_members(fragment)) {
      resolved = resolve(c, warp, fragment) || resolved;
    }
  }
  return resolved;
}

bool has_complete_collective(Warp& warp) {
  return std::ranges::any_of(warp.fragments, [&](const Fragment& fragment) {
    return waits_for_members(fragment) && !find_meeting(warp, fragment).group.empty();
  });
}

void run_warp(Context& c, Warp& warp, std::int32_t budget) {
  DEBUG_ASSERT(warp.is_valid() && budget > 0);
  c.warp = &warp;
  c.yields = false;
  while (budget > 0 && !c.yields) {
    if (warp.fragments.size() > 1) {
      resolve_collectives(c, warp);
      tidy(warp);
    }
    const Choice choice = choose(warp, warp.takes_turns);
    if (choice.ready == 0) {
      // After exits a single waiting fragment may be left, which has no other to wait for.
      tidy(warp);
      if (!resolve_collectives(c, warp)) {
        return;
      }
      continue;
    }
    const bool shares = choice.ready > 1;
    const std::int32_t turn = shares ? std::min(budget, kTurn) : budget;
    const std::int32_t used = run_turn(c, choice.fragment, turn, shares && !warp.takes_turns);
    budget -= used;
    warp.takes_turns = shares && (used >= turn || c.yields);
    DEBUG_ASSERT(warp.is_valid());
  }
}

}  // namespace barracuda::emulator
