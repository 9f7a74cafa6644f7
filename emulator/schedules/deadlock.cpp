#include "emulator/schedules/deadlock.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "emulator/schedules/grid.h"
#include "emulator/state/statement_line.h"

namespace barracuda::emulator {

namespace {

constexpr std::size_t kNamedGroups = 8;
// So often in a row is no accident.
constexpr std::uint32_t kHopelessPolls = 1000;
// A loop that sleeps between polls looks at a clock and may give up after a while.
constexpr std::uint32_t kHopelessSleeps = 50'000;

const Instruction* waits_at(const Fragment& fragment) {
  return fragment.state == FragmentState::kReady ? fragment.polls_at : fragment.waits_at;
}

const Instruction* stands_at(const Fragment& fragment) {
  return fragment.state == FragmentState::kReady
             ? fragment.frame->function->code.data() + fragment.pc
             : fragment.waits_at;
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
  // Behind a poll that its loop repeats, or at a wait that repeats itself.
  return fragment.polls >= kHopelessPolls &&
         (next == fragment.polls_at + 1 || next == fragment.polls_at);
}

struct Group {
  const Cta* cta;
  const Warp* warp;
  const Fragment* fragment;
  const Instruction* place;
};

using PlaceOf = const Instruction* (*)(const Fragment& fragment);

// Groups of lanes that are nowhere are left out.
std::vector<Group> groups_of(const Cluster& cluster, PlaceOf place_of) {
  std::vector<Group> groups;
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      for (const Fragment& fragment : warp->fragments) {
        const Instruction* place = fragment.mask == 0 ? nullptr : place_of(fragment);
        if (place != nullptr) {
          groups.push_back(
              {.cta = cta.get(), .warp = warp.get(), .fragment = &fragment, .place = place});
        }
      }
    }
  }
  return groups;
}

// Whether the lanes' own bits are missing in the member mask that they wait by.
bool leaves_itself_out(const Fragment& fragment) {
  const auto slot = static_cast<Slot>(fragment.waits_at->immediate);
  if (slot == kNoSlot) {
    return false;
  }
  const Frame& frame = *fragment.frame;
  const std::byte* const members = (slot & kConstantSlot) != 0
                                       ? frame.function->constants.get() + (slot & ~kConstantSlot)
                                       : frame.registers + slot;
  std::uint32_t mask = 0;
  std::memcpy(&mask, members + 4 * static_cast<std::size_t>(std::countr_zero(fragment.mask)),
              sizeof mask);
  return (mask & fragment.mask) == 0;
}

std::string text_of(const Launch& launch, const Cluster& cluster, const Group& group) {
  const auto& [cta, warp, fragment, place] = group;
  const InstructionText& text = launch.program.text_of(*place);
  const std::string block =
      cluster.ctas.size() == 1
          ? std::string()
          : fmt::format("block ({},{},{}), ", cta->index.x, cta->index.y, cta->index.z);
  std::string line = fmt::format("; {}warp {}, lanes {:#010x}, at PTX line {}: {}", block,
                                 warp->index, fragment->mask, text.line, statement_line(text.text));
  if (fragment->state == FragmentState::kCollective) {
    line += fmt::format(" (for lanes {:#010x}{})", fragment->members & warp->live & ~fragment->mask,
                        leaves_itself_out(*fragment)
                            ? ", by a member mask without its own lane, which PTX does not define"
                            : "");
  }
  return line;
}

// "; warp 0 …; warp 1 …; and 5 more"
std::string list(const Launch& launch, const Cluster& cluster, const std::vector<Group>& groups) {
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), kNamedGroups); ++i) {
    text += text_of(launch, cluster, groups[i]);
  }
  return groups.size() <= kNamedGroups
             ? text
             : fmt::format("{}; and {} more", text, groups.size() - kNamedGroups);
}

std::string name_of(const Cluster& cluster) {
  const Dim3& index = cluster.ctas.front()->index;
  return fmt::format("{}block ({},{},{})", cluster.ctas.size() == 1 ? "" : "the cluster of ",
                     index.x, index.y, index.z);
}

void name_groups(const Launch& launch, const std::vector<Group>& groups, DeviceError& error) {
  for (const auto& [cta, warp, fragment, place] : groups) {
    if (error.standing.size() == kNamedGroups) {
      break;
    }
    const int lane = std::countr_zero(fragment->mask);
    error.standing.push_back(
        {.block = cta->index,
         .thread = {.x = warp->tid[0][lane], .y = warp->tid[1][lane], .z = warp->tid[2][lane]},
         .function = std::string(fragment->frame->function->name),
         .ptx_line = launch.program.text_of(*place).line,
         .waits = fragment->state != FragmentState::kReady});
  }
  if (!error.standing.empty()) {
    const Standing& first = error.standing.front();
    error.block = first.block;
    error.thread = first.thread;
    error.function = first.function;
    error.ptx_line = first.ptx_line;
  }
}

}  // namespace

void report_deadlock(Launch& launch, const Cluster& cluster) {
  const std::vector<Group> groups = groups_of(cluster, &waits_at);
  DeviceError error;
  error.code = DeviceErrorCode::kDeadlock;
  error.what = fmt::format("deadlock: all threads of {} wait", name_of(cluster));
  name_groups(launch, groups, error);
  error.message = fmt::format("deadlock: all threads of {} of kernel {} wait{}", name_of(cluster),
                              launch.program.kernel, list(launch, cluster, groups));
  launch.fail(std::move(error));
}

void check_deadline(Launch& launch, const Cluster& cluster) {
  if (launch.timeout_ms == 0 || std::chrono::steady_clock::now() <= launch.deadline) {
    return;
  }
  const double seconds = static_cast<double>(launch.timeout_ms) / 1000;
  end_where_it_stands(launch, &cluster, DeviceErrorCode::kTimeout,
                      {.what = fmt::format("did not end within {} s (launch-timeout)", seconds),
                       .sentence = fmt::format("did not end within {} ms", launch.timeout_ms)});
}

void end_where_it_stands(Launch& launch, const Cluster* cluster, DeviceErrorCode code,
                         const EndReason& reason) {
  DeviceError error;
  error.code = code;
  error.what = reason.what;
  error.message = fmt::format("kernel {} {}", launch.program.kernel, reason.sentence);
  if (cluster != nullptr) {
    // The others wait for those that run.
    std::vector<Group> groups = groups_of(*cluster, &stands_at);
    std::ranges::stable_partition(
        groups, [](const Group& group) { return group.fragment->state == FragmentState::kReady; });
    name_groups(launch, groups, error);
    error.message += fmt::format("; {} ran last and is here{}", name_of(*cluster),
                                 list(launch, *cluster, groups));
  }
  launch.fail(std::move(error));
}

void check_stalled(Launch& launch, const Cluster& cluster) {
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      const bool goes_on = std::ranges::any_of(warp->fragments, [](const Fragment& fragment) {
        return fragment.mask != 0 && !is_stuck(fragment);
      });
      if (goes_on || has_complete_collective(*warp)) {
        return;
      }
    }
  }
  report_deadlock(launch, cluster);
}

}  // namespace barracuda::emulator
