// bar and barrier of a CTA and of a cluster.
#include <bit>

#include <fmt/format.h>

#include "emulator/execute/control.h"
#include "emulator/execute/lanes/lanes.h"
#include "emulator/state/cluster.h"

namespace barracuda::emulator {

using baseline::source;

namespace {

static_assert(static_cast<int>(BarrierResult::kPopulation) == 1 &&
                  static_cast<int>(BarrierResult::kAll) == 2 &&
                  static_cast<int>(BarrierResult::kAny) == 3,
              "state/cta.cpp delivers them by these numbers");

void block(Context& c, const Instruction& in, std::uint32_t mask, std::uint32_t barrier) {
  if (mask != c.active) {
    diverge(c, c.active & ~mask, c.pc);  // those that do not execute it go on
  }
  Fragment& fragment = c.warp->running();
  fragment.state = FragmentState::kBarrier;
  fragment.barrier = static_cast<std::uint8_t>(barrier);
  fragment.waits_at = &in;
  fragment.pc = c.pc;
}

bool read_arrival(Context& c, const Instruction& in, std::uint32_t mask, Arrival& arrival) {
  const int lane = std::countr_zero(mask);
  arrival.warp = c.warp;
  arrival.mask = mask;
  arrival.barrier = source<std::uint32_t>(c, in.a)[lane];
  arrival.expected = in.b == kNoSlot ? 0 : source<std::uint32_t>(c, in.b)[lane];
  arrival.predicate = in.c == kNoSlot ? 0 : baseline::predicate(c, in.c);
  if (arrival.barrier >= kBarriers || arrival.expected % kLanes != 0) {
    fail(c, in,
         Fault{.code = DeviceErrorCode::kIllegalInstruction,
               .lane = lane,
               .what = fmt::format("barrier {} for {} threads, which does not exist, was used",
                                   arrival.barrier, arrival.expected)});
    return false;
  }
  return true;
}

}  // namespace

Step execute_barrier(Context& c, const Instruction& in, std::uint32_t mask) {
  Arrival arrival;
  if (!read_arrival(c, in, mask, arrival)) {
    return Step::kSwitch;
  }
  block(c, in, mask, arrival.barrier);
  arrive(*c.cta, arrival);
  return Step::kSwitch;
}

Step execute_barrier_arrive(Context& c, const Instruction& in, std::uint32_t mask) {
  Arrival arrival;
  if (!read_arrival(c, in, mask, arrival)) {
    return Step::kSwitch;
  }
  arrive(*c.cta, arrival);
  return Step::kNext;
}

Step execute_cluster_arrive(Context& c, const Instruction& /*in*/, std::uint32_t mask) {
  arrive_at_cluster(*c.warp, *c.cta, mask);
  return Step::kNext;
}

// An arrival that is still noted is one whose barrier is not complete.
Step execute_cluster_wait(Context& c, const Instruction& in, std::uint32_t mask) {
  if ((waiting_for_cluster(*c.warp, *c.cta) & mask) == 0) {
    return Step::kNext;
  }
  block(c, in, mask, kClusterBarrier);
  return Step::kSwitch;
}

}  // namespace barracuda::emulator
