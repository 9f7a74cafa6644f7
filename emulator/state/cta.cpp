#include "emulator/state/cta.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "emulator/state/cluster.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

// Instruction::flags of a barrier (execute/barrier.cpp): what its result is.
constexpr std::uint8_t kPopulation = 1, kAll = 2, kAny = 3;

void deliver(const Fragment& fragment, const Barrier& barrier) {
  const Instruction& instruction = *fragment.waits_at;
  if (instruction.flags == 0 || instruction.d == kNoSlot) {
    return;
  }
  std::byte* target = fragment.frame->registers + instruction.d;
  auto* words = reinterpret_cast<std::uint32_t*>(target);
  if (instruction.flags == kPopulation) {
    for (std::uint32_t rest = fragment.mask; rest != 0; rest &= rest - 1) {
      words[std::countr_zero(rest)] = barrier.population;
    }
    return;
  }
  const bool result = instruction.flags == kAll ? barrier.all : barrier.any;
  *words = result ? *words | fragment.mask : *words & ~fragment.mask;
}

void reset(Barrier& barrier) {
  std::ranges::fill(barrier.arrived, 0U);
  barrier.expected = 0;
  barrier.is_used = false;
  barrier.all = true;
  barrier.any = false;
  barrier.population = 0;
}

void release(Cta& cta, std::uint32_t number) {
  Barrier& barrier = cta.barriers[number];
  for (const auto& warp : cta.warps) {
    for (Fragment& fragment : warp->fragments) {
      if (fragment.state == FragmentState::kBarrier && fragment.barrier == number) {
        deliver(fragment, barrier);
        fragment.state = FragmentState::kReady;
        if (cta.weak != nullptr) {
          cta.weak->reset_windows(*warp->weak, fragment.mask);
        }
      }
    }
  }
  reset(barrier);
}

// Arrival is by warps: one counts when all of its lanes that have not exited have arrived.
bool is_complete(const Cta& cta, const Barrier& barrier) {
  DEBUG_ASSERT(barrier.arrived.size() == cta.warps.size());
  std::uint32_t threads = 0;
  for (const auto& warp : cta.warps) {
    const std::uint32_t arrived = barrier.arrived[warp->index];
    if ((arrived & warp->live) != warp->live) {
      if (barrier.expected == 0) {
        return false;
      }
    } else if (arrived != 0) {
      threads += kLanes;
    }
  }
  return threads >= barrier.expected;
}

}  // namespace

void arrive(Cta& cta, const Arrival& arrival) {
  DEBUG_ASSERT(arrival.barrier < kBarriers && arrival.warp->index < cta.warps.size());
  DEBUG_ASSERT(arrival.mask != 0 && (arrival.mask & ~arrival.warp->live) == 0);
  Barrier& barrier = cta.barriers[arrival.barrier];
  barrier.arrived.resize(cta.warps.size());
  barrier.is_used = true;
  if (arrival.expected != 0) {
    barrier.expected = arrival.expected;
  }
  std::uint32_t& arrived = barrier.arrived[arrival.warp->index];
  arrived |= arrival.mask;
  const std::uint32_t set = arrival.predicate & arrival.mask;
  barrier.population += static_cast<std::uint32_t>(std::popcount(set));
  barrier.all = barrier.all && set == arrival.mask;
  barrier.any = barrier.any || set != 0;
  if ((arrived & arrival.warp->live) == arrival.warp->live && is_complete(cta, barrier)) {
    release(cta, arrival.barrier);
  }
}

void complete_after_exit(Cta& cta) {
  for (std::uint32_t number = 0; number < kBarriers; ++number) {
    if (cta.barriers[number].is_used && is_complete(cta, cta.barriers[number])) {
      release(cta, number);
    }
  }
  complete_cluster_after_exit(*cta.cluster);
}

void reset_barriers(Cta& cta) {
  for (Barrier& barrier : cta.barriers) {
    if (barrier.is_used) {
      reset(barrier);
    }
  }
}

}  // namespace barracuda::emulator
