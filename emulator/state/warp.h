// A warp: call frames shared by lanes that called together, and fragments, groups of lanes at one
// pc of one frame. Lanes are in exactly one fragment until they exit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "emulator/state/asynchronous.h"
#include "emulator/state/instruction.h"
#include "emulator/state/poll_watch.h"
#include "emulator/state/program.h"
#include "emulator/state/weak_thread.h"

namespace barracuda::emulator {

struct Frame {
  const Function* function = nullptr;
  Frame* parent = nullptr;
  const CallSite* call = nullptr;
  std::uint32_t return_pc = 0;
  std::uint32_t lanes = 0;  // that have not returned yet
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;  // in the lane's local memory
  std::uint32_t allocated = 0;   // by alloca, behind the function's locals
  std::byte* registers = nullptr;
};

enum class FragmentState : std::uint8_t {
  kReady,
  kBarrier,     // waits at a CTA barrier; pc is the instruction after it
  kCollective,  // waits for the members of a warp collective; pc is the collective itself
};

struct Fragment {
  std::uint32_t mask = 0;
  std::uint32_t pc = 0;
  Frame* frame = nullptr;
  FragmentState state = FragmentState::kReady;
  std::uint8_t barrier = 0;
  std::uint32_t members = 0;               // of the collective
  bool meets_here = false;                 // the members come to this very instruction
  const Instruction* waits_at = nullptr;   // barrier or collective
  const Instruction* polls_at = nullptr;   // an mbarrier's phase that does not end
  const Instruction* sleeps_at = nullptr;  // in the loop that polls
  std::uint32_t polls = 0;                 // there, without doing much else
  std::uint32_t tries = 0;                 // to meet other lanes of the warp
  std::uint64_t last_turn = 0;
};

// A lane's local memory is interleaved by 8 bytes: byte b of lane l is at (b / 8) * 256 + l * 8 + b
// % 8.
class LocalMemory {
 public:
  [[nodiscard]] std::byte* data() { return memory_.data(); }

  [[nodiscard]] std::uint32_t lane_bytes() const {
    return static_cast<std::uint32_t>(memory_.size() / kLanes);
  }

  // False when a lane would have more than kMaximumLaneBytes.
  bool reserve(std::uint32_t lane_bytes);

  static constexpr std::uint32_t kMaximumLaneBytes = 512 * 1024;

  static constexpr std::size_t offset(std::uint32_t byte, int lane) {
    return std::size_t{byte / 8} * 256 + static_cast<std::size_t>(lane) * 8 + byte % 8;
  }

 private:
  std::vector<std::byte> memory_;
};

static_assert(LocalMemory::offset(7, 31) + 1 == LocalMemory::offset(8, 0) &&
                  LocalMemory::offset(8, 1) == 256 + 8,
              "pieces of 8 bytes, of all lanes side by side");
static_assert(LocalMemory::kMaximumLaneBytes % 8 == 0);

struct Warp {
  alignas(32) std::uint32_t tid[3][kLanes] = {};
  std::uint64_t turn = 0;
  std::size_t current = 0;  // the running fragment
  std::vector<Fragment> fragments;
  LocalMemory local;
  std::unique_ptr<WeakLanes> weak;   // null: memory is not weak
  std::unique_ptr<PollWatch> watch;  // null: nobody watches whether it only polls
  CopyQueue copies, bulk_copies;
  std::uint32_t index = 0;           // in the CTA
  std::uint32_t live = 0;            // lanes that have not exited
  std::uint32_t product_groups = 0;  // of wgmma, that it has ended
  std::uint32_t meetings = 0;        // strong accesses before some of which its turn still ends
  std::uint32_t meets_every = 1;     // how many of them go by for one that does
  bool has_met = false;              // the next one is made at once
  bool takes_turns = false;          // the last one used its turn up: next, who has waited longest

  [[nodiscard]] Fragment& running() {
    DEBUG_ASSERT(current < fragments.size());
    return fragments[current];
  }

  // Each live lane is in one fragment, and in the frame that the fragment is in.
  [[nodiscard]] bool is_valid() const;
};

}  // namespace barracuda::emulator
