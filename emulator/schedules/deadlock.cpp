#include "emulator/schedules/deadlock.h"

#include <bit>
#include <string>

#include <fmt/format.h>

#include "emulator/schedules/grid.h"

namespace barracuda::emulator {

namespace {

constexpr std::size_t kNamedWaits = 8;
// So often in a row is no accident.
constexpr std::uint32_t kHopelessPolls = 1000;
// A loop that sleeps between polls looks at a clock and may give up after a while.
constexpr std::uint32_t kHopelessSleeps = 50'000;

const Instruction* place_of(const Fragment& fragment) {
  return fragment.state == FragmentState::kReady ? fragment.polls_at : fragment.waits_at;
}

bool is_stuck(const Fragment& fragment) {
  if (fragment.state != FragmentState::kReady) {
    return true;
  }
  const Instruction* next = fragment.frame->function->code.data() + fragment.pc;
  if (fragment.sleeps_at != nullptr) {
    return fragment.polls >= kHopelessSleeps &&
           (next == fragment.polls_at + 1 || next == fragment.sleeps_at + 1);
  }
  return fragment.polls >= kHopelessPolls && next == fragment.polls_at + 1;
}

std::string wait_of(const Launch& launch, const Cluster& cluster, const Cta& cta, const Warp& warp,
                    const Fragment& fragment) {
  const InstructionText& text = launch.program.text_of(*place_of(fragment));
  const std::string block =
      cluster.ctas.size() == 1
          ? std::string()
          : fmt::format("block ({},{},{}), ", cta.index.x, cta.index.y, cta.index.z);
  std::string wait = fmt::format("; {}warp {}, lanes {:#010x}, at PTX line {}: {}", block,
                                 warp.index, fragment.mask, text.line, text.text);
  if (fragment.state == FragmentState::kCollective) {
    wait += fmt::format(" (for lanes {:#010x})", fragment.members & warp.live & ~fragment.mask);
  }
  return wait;
}

void name_first(const Launch& launch, const Cta& cta, const Warp& warp, const Fragment& fragment,
                DeviceError& error) {
  const int lane = std::countr_zero(fragment.mask);
  error.block = cta.index;
  error.thread = Dim3{.x = warp.tid[0][lane], .y = warp.tid[1][lane], .z = warp.tid[2][lane]};
  error.function = fragment.frame->function->name;
  error.ptx_line = launch.program.text_of(*place_of(fragment)).line;
}

}  // namespace

void report_deadlock(Launch& launch, const Cluster& cluster) {
  std::string waits;
  std::size_t named = 0;
  DeviceError error;
  error.code = DeviceErrorCode::kDeadlock;
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      for (const Fragment& fragment : warp->fragments) {
        if (fragment.mask == 0 || place_of(fragment) == nullptr) {
          continue;
        }
        if (named++ == 0) {
          name_first(launch, *cta, *warp, fragment, error);
        }
        if (named <= kNamedWaits) {
          waits += wait_of(launch, cluster, *cta, *warp, fragment);
        }
      }
    }
  }
  const std::size_t more = named > kNamedWaits ? named - kNamedWaits : 0;
  error.message = fmt::format("deadlock: all threads of {}block ({},{},{}) of kernel {} wait{}{}",
                              cluster.ctas.size() == 1 ? "" : "the cluster of ", error.block.x,
                              error.block.y, error.block.z, launch.program.kernel, waits,
                              more == 0 ? std::string() : fmt::format("; and {} more", more));
  launch.fail(std::move(error));
}

void check_stalled(Launch& launch, const Cluster& cluster) {
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      for (const Fragment& fragment : warp->fragments) {
        if (fragment.mask != 0 && !is_stuck(fragment)) {
          return;
        }
      }
    }
  }
  report_deadlock(launch, cluster);
}

}  // namespace barracuda::emulator
