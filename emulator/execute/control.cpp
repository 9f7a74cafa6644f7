#include "emulator/execute/control.h"

#include <bit>

#include <fmt/format.h>

#include "emulator/execute/lanes/lanes.h"
#include "emulator/state/launch.h"
#include "emulator/state/program.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

using baseline::source;

Step execute_branch(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto target = static_cast<std::uint32_t>(in.immediate);
  if (mask == c.active) {
    c.pc = target;
    return Step::kNext;
  }
  return diverge(c, mask, target);
}

Step execute_indexed_branch(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto* indices = source<std::uint32_t>(c, in.a);
  const auto& targets = static_cast<const BranchTable*>(in.extra)->targets;
  std::uint32_t left = mask;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    const std::uint32_t index = indices[lane];
    if (index >= targets.size()) {
      return fail(c, in,
                  Fault{.code = DeviceErrorCode::kInvalidPc,
                        .lane = lane,
                        .what = fmt::format("a branch to target {} of {}", index, targets.size())});
    }
    std::uint32_t same = 0;
    for (const int other : SetBits<int>(left)) {
      same |= indices[other] == index ? std::uint32_t{1} << other : 0U;
    }
    left &= ~same;
    if (same == c.active) {
      c.pc = targets[index];
      return mask == same ? Step::kNext : Step::kSwitch;
    }
    diverge(c, same, targets[index]);
  }
  return Step::kSwitch;
}

Step execute_call(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto& call = *static_cast<const CallSite*>(in.extra);
  if (call.callee != nullptr) {
    return enter(c, call, *call.callee, mask);
  }
  // Lanes that call the same function go together; the others try again.
  const auto* targets = source<std::uint64_t>(c, in.a);
  const int first = std::countr_zero(mask);
  const std::uint64_t target = targets[first];
  std::uint32_t same = 0;
  for (const int lane : SetBits<int>(mask)) {
    same |= targets[lane] == target ? std::uint32_t{1} << lane : 0U;
  }
  const Function* callee = c.launch->program.function_at(target);
  if (callee == nullptr) {
    return fail(c, in,
                Fault{.code = DeviceErrorCode::kInvalidPc,
                      .lane = first,
                      .address = target,
                      .what = fmt::format("a call of {:#x}, which is no function,", target)});
  }
  if (same != mask) {
    diverge(c, mask & ~same, c.pc - 1);
    enter(c, call, *callee, same);
    return Step::kSwitch;
  }
  return enter(c, call, *callee, mask);
}

Step execute_return(Context& c, const Instruction& /*in*/, std::uint32_t mask) {
  return leave(c, mask);
}

Step execute_exit(Context& c, const Instruction& /*in*/, std::uint32_t mask) {
  return exit_lanes(c, mask);
}

Step execute_trap(Context& c, const Instruction& in, std::uint32_t mask) {
  return fail(c, in,
              Fault{.code = DeviceErrorCode::kTrap,
                    .lane = std::countr_zero(mask),
                    .what = "a trap was executed"});
}

Step execute_breakpoint(Context& c, const Instruction& in, std::uint32_t mask) {
  return fail(c, in,
              Fault{.code = DeviceErrorCode::kTrap,
                    .lane = std::countr_zero(mask),
                    .what = "a breakpoint was reached"});
}

Step execute_nothing(Context& /*c*/, const Instruction& /*in*/, std::uint32_t /*mask*/) {
  return Step::kNext;
}

Step execute_sleep(Context& c, const Instruction& in, std::uint32_t /*mask*/) {
  Fragment& fragment = c.warp->running();
  if (fragment.polls_at != nullptr && c.turn_budget - c.budget <= kPollingLoop) {
    fragment.sleeps_at = &in;
  }
  charge_poll(c);
  c.yields = true;
  return Step::kSwitch;
}

Step execute_fence(Context& c, const Instruction& /*in*/, std::uint32_t /*mask*/) {
  ++c.fences;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return Step::kNext;
}

Step execute_unsupported(Context& c, const Instruction& in, std::uint32_t mask) {
  return fail(c, in,
              Fault{.code = DeviceErrorCode::kIllegalInstruction,
                    .lane = std::countr_zero(mask),
                    .what = *static_cast<const std::string*>(in.extra)});
}

}  // namespace barracuda::emulator
