// What a worker holds while it executes: the running fragment in directly usable form, and what the
// handlers lean on. A context serves one CTA at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "emulator/machine.h"
#include "emulator/state/address_windows.h"
#include "emulator/state/instruction.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

class FramePool;
struct Cta;
struct Launch;
class WeakState;

// The allocation that an instruction accessed last.
struct CachedRange {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
};

struct Context {
  const Instruction* code = nullptr;
  // [0] the frame's registers, [1] the function's constants
  std::byte* bases[2] = {nullptr, nullptr};
  std::uint32_t pc = 0;  // of the next instruction
  std::uint32_t active = 0;
  std::uint32_t stop_pc = 0;  // another fragment of the frame waits there
  std::int32_t budget = 0;
  std::byte* shared = nullptr;
  std::byte* local = nullptr;        // the warp's local memory
  std::byte* frame_local = nullptr;  // from the frame's base on
  std::uint32_t shared_bytes = 0;
  std::uint32_t local_bytes = 0;  // of a lane
  const std::byte* parameters = nullptr;
  Frame* frame = nullptr;
  Warp* warp = nullptr;
  Cta* cta = nullptr;
  Launch* launch = nullptr;
  WeakState* weak = nullptr;  // the launch's
  FramePool* pool = nullptr;
  AddressWindows windows;
  const std::atomic<std::uint64_t>* releases = nullptr;
  std::uint64_t seen_releases = 0;
  std::uint64_t clock = 0;    // budget used by this worker before the running turn
  std::uint64_t charged = 0;  // of this, for polls and not for instructions
  std::uint64_t fences = 0;   // that this worker has executed
  std::int32_t turn_budget = 0;
  Handler observer = nullptr;  // in place of each handler: what warps do to memory is watched
  bool yields = false;         // the warp gives up its slice
  bool meets = false;  // so that others see what it has done: its cluster gives up its own, too
  std::array<CachedRange, 64> ranges;

  Context(Launch& the_launch, FramePool& frame_pool);

  [[nodiscard, gnu::always_inline]] CachedRange& range_of(const Instruction& instruction) {
    return ranges[(reinterpret_cast<std::uintptr_t>(&instruction) >> 6) % 64];
  }

  // The running fragment's registers, code and place.
  void load_fragment(const Fragment& fragment);
  void load_frame(Frame& its_frame);

  [[nodiscard]] std::uint64_t now() const {
    return clock + static_cast<std::uint64_t>(turn_budget - budget);
  }
};

// What a strong load or an atomic costs a turn beyond an instruction: lanes that poll must not keep
// others waiting.
inline constexpr std::int32_t kPollCost = 32;

// Between two polls of a loop that does nothing else, or a poll and a sleep.
inline constexpr std::int32_t kPollingLoop = 24;

// Every so often the running warp's turn is over, and its cluster's.
bool meet(Context& context);

[[gnu::always_inline]] inline void charge_poll(Context& context) {
  context.budget -= kPollCost;
  context.charged += static_cast<std::uint64_t>(kPollCost);
}

// Before a strong access: what threads do about each other hangs on who comes between two of them.
// True: a warp that has meetings left lets all others come first, and then makes the access.
[[nodiscard, gnu::always_inline]] inline bool meets_first(Context& context) {
  return context.warp->meetings != 0 && meet(context);
}

struct Fault {
  DeviceErrorCode code = DeviceErrorCode::kNone;
  int lane = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool is_write = false;
  std::string what;  // "an out-of-bounds write of 4 bytes at 0x…"
};

// Ends the launch; the message names instruction, line, thread. Always kSwitch.
Step fail(Context& context, const Instruction& instruction, const Fault& fault);

// The lanes of `taken` go to `target`, the others of the running fragment stay.
Step diverge(Context& context, std::uint32_t taken, std::uint32_t target);
Step enter(Context& context, const CallSite& call, const Function& callee, std::uint32_t mask);
Step leave(Context& context, std::uint32_t mask);
Step exit_lanes(Context& context, std::uint32_t mask);

// The lanes of `group` wait where they stand for the other `members`; other lanes of `mask` try
// again, those that do not execute the instruction go on.
struct Gathering {
  std::uint32_t mask = 0, group = 0, members = 0;
};

Step wait_for_members(Context& context, const Instruction& instruction, const Gathering& gathering);

// Runs one warp until its budget is used up, it yields, or all of its lanes wait or have exited.
void run_warp(Context& context, Warp& warp, std::int32_t budget);
// Collectives whose members have all arrived, at whatever instructions, are executed or made ready.
bool resolve_collectives(Context& context, Warp& warp);
// There is one that the warp's next turn begins with: the last of its members came when the turn's
// budget was used up.
bool has_complete_collective(Warp& warp);

}  // namespace barracuda::emulator
