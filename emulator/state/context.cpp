#include "emulator/state/context.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "emulator/state/cta.h"
#include "emulator/state/frame_pool.h"
#include "emulator/state/launch.h"
#include "emulator/state/statement_line.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

constexpr std::uint32_t kMaximumDepth = 16 * 1024;
constexpr std::uint32_t kNoStop = ~std::uint32_t{0};

// The lanes that do not take part stay behind as a fragment of their own.
void split_off(Context& c, std::uint32_t lanes, std::uint32_t pc) {
  Fragment rest = c.warp->running();
  rest.mask = lanes;
  rest.pc = pc;
  rest.state = FragmentState::kReady;
  c.warp->running().mask &= ~lanes;
  c.active &= ~lanes;
  c.warp->fragments.push_back(rest);
}

struct LaneBuffer {
  std::byte* data = nullptr;
  std::uint32_t stride = 0;
};

// One 8-byte granule of a passed value: where it lies for lane 0, and how far the lanes are apart.
LaneBuffer granule(std::byte* const bases[2], std::byte* local, const Passed& passed,
                   std::uint32_t number) {
  if (passed.slot == kNoSlot) {
    return {.data = local + LocalMemory::offset(passed.local_offset + number * 8, 0), .stride = 8};
  }
  std::byte* base = bases[passed.slot >> 31] + (passed.slot & ~kConstantSlot);
  return {.data = base, .stride = passed.bytes == 8 ? 8U : 4U};
}

struct Side {
  std::byte* const* bases = nullptr;
  std::byte* local = nullptr;
};

void copy_passed(const Side& from, const Passed& source, const Side& to, const Passed& target,
                 std::uint32_t mask) {
  const std::uint32_t bytes = std::min(source.bytes, target.bytes);
  for (std::uint32_t done = 0; done < bytes; done += 8) {
    const LaneBuffer s = granule(from.bases, from.local, source, done / 8);
    const LaneBuffer t = granule(to.bases, to.local, target, done / 8);
    if (mask == kFullMask && s.stride == 8 && t.stride == 8) {
      std::memcpy(t.data, s.data, std::size_t{8} * kLanes);
      continue;
    }
    const std::size_t piece = std::min({s.stride, t.stride, std::uint32_t{8}});
    for (const std::uint32_t lane : SetBits(mask)) {
      std::memcpy(t.data + std::size_t{lane} * t.stride, s.data + std::size_t{lane} * s.stride,
                  piece);
    }
  }
}

Fault overflow(std::uint32_t mask) {
  return Fault{.code = DeviceErrorCode::kStackOverflow,
               .lane = std::countr_zero(mask),
               .what = "the stack of a thread has overflowed"};
}

}  // namespace

Context::Context(Launch& the_launch, FramePool& frame_pool)
    : parameters(the_launch.parameters),
      launch(&the_launch),
      weak(the_launch.weak),
      pool(&frame_pool),
      windows(address_windows()),
      releases(&the_launch.memory.releases()) {}

void Context::load_frame(Frame& its_frame) {
  frame = &its_frame;
  code = frame->function->code.data();
  bases[0] = frame->registers;
  bases[1] = frame->function->constants.get();
  local = warp->local.data();
  local_bytes = warp->local.lane_bytes();
  frame_local = local + LocalMemory::offset(frame->local_base, 0);
}

void Context::load_fragment(const Fragment& its_fragment) {
  pc = its_fragment.pc;
  active = its_fragment.mask;
  stop_pc = kNoStop;
  load_frame(*its_fragment.frame);
}

bool meet(Context& c) {
  Warp& warp = *c.warp;
  DEBUG_ASSERT(warp.meetings != 0);
  if (c.frame->function->is_tool || std::exchange(warp.has_met, false) ||
      --warp.meetings % warp.meets_every != 0) {
    return false;
  }
  warp.has_met = true;
  --c.pc;
  c.yields = true;
  c.meets = true;
  return true;
}

Step fail(Context& c, const Instruction& instruction, const Fault& fault) {
  ASSERT(fault.code != DeviceErrorCode::kNone && fault.lane >= 0 && fault.lane < kLanes);
  const InstructionText& text = c.launch->program.text_of(instruction);
  DeviceError error;
  error.code = fault.code;
  error.function = c.frame->function->name;
  error.ptx_line = text.line;
  error.address = fault.address;
  error.access_bytes = fault.bytes;
  error.is_write = fault.is_write;
  error.block = c.cta->index;
  error.thread = Dim3{.x = c.warp->tid[0][fault.lane],
                      .y = c.warp->tid[1][fault.lane],
                      .z = c.warp->tid[2][fault.lane]};
  if (fault.code == DeviceErrorCode::kAssert) {
    error.message = fault.what;  // as CUDA prints it, a line for a thread
    error.what = fault.what.substr(0, fault.what.find('\n'));
    c.launch->fail(std::move(error));
    c.yields = true;
    return Step::kSwitch;
  }
  error.what = fmt::format("{}: {}", fault.what, statement_line(text.text));
  error.message = fmt::format(
      "{} by thread ({},{},{}) of block ({},{},{}) in kernel {}{}, PTX line {}: {}", fault.what,
      error.thread.x, error.thread.y, error.thread.z, error.block.x, error.block.y, error.block.z,
      c.launch->program.kernel,
      c.frame->function->is_entry ? std::string() : fmt::format(", function {}", error.function),
      text.line, statement_line(text.text));
  c.launch->fail(std::move(error));
  c.yields = true;
  return Step::kSwitch;
}

Step diverge(Context& c, std::uint32_t taken, std::uint32_t target) {
  DEBUG_ASSERT(taken != 0 && taken != c.active && (taken & ~c.active) == 0);
  split_off(c, taken, target);
  // Lanes that go there already take the new ones along.
  const Fragment& added = c.warp->fragments.back();
  for (std::size_t i = 0; i + 1 < c.warp->fragments.size(); ++i) {
    Fragment& other = c.warp->fragments[i];
    if (i != c.warp->current && other.mask != 0 && other.state == FragmentState::kReady &&
        other.pc == target && other.frame == added.frame) {
      other.mask |= added.mask;
      c.warp->fragments.pop_back();
      break;
    }
  }
  return Step::kSwitch;
}

Step enter(Context& c, const CallSite& call, const Function& callee, std::uint32_t mask) {
  DEBUG_ASSERT(mask != 0 && (mask & ~c.active) == 0 && c.pc != 0);
  const Instruction& instruction = c.code[c.pc - 1];
  Frame* caller = c.frame;
  const std::uint32_t local_base =
      caller->local_base + caller->function->local_bytes + caller->allocated;
  if (caller->depth >= kMaximumDepth || !c.warp->local.reserve(local_base + callee.local_bytes)) {
    return fail(c, instruction, overflow(mask));
  }
  if (mask != c.active) {
    split_off(c, c.active & ~mask, c.pc);
  }
  Frame* frame = c.pool->take(callee);
  frame->parent = caller;
  frame->call = &call;
  frame->return_pc = c.pc;
  frame->lanes = mask;
  frame->depth = caller->depth + 1;
  frame->local_base = local_base;
  frame->allocated = 0;
  std::byte* const caller_bases[2] = {c.bases[0], c.bases[1]};
  std::byte* const callee_bases[2] = {frame->registers, callee.constants.get()};
  std::byte* local = c.warp->local.data();
  const Side from{.bases = caller_bases,
                  .local = local + LocalMemory::offset(caller->local_base, 0)};
  const Side to{.bases = callee_bases, .local = local + LocalMemory::offset(local_base, 0)};
  const std::size_t count = std::min(call.arguments.size(), callee.parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    // What another fragment of the frame has put there stays: only these lanes are copied.
    copy_passed(from, call.arguments[i], to, callee.parameters[i], mask);
  }
  c.warp->running().frame = frame;
  c.pc = 0;
  c.load_frame(*frame);
  c.stop_pc = kNoStop;
  return c.warp->fragments.size() == 1 ? Step::kNext : Step::kSwitch;
}

Step leave(Context& c, std::uint32_t mask) {
  DEBUG_ASSERT((mask & ~c.frame->lanes) == 0);
  Frame* frame = c.frame;
  Frame* parent = frame->parent;
  if (parent == nullptr) {
    return exit_lanes(c, mask);
  }
  if (mask != c.active) {
    split_off(c, c.active & ~mask, c.pc);
  }
  std::byte* const frame_bases[2] = {frame->registers, frame->function->constants.get()};
  std::byte* const parent_bases[2] = {parent->registers, parent->function->constants.get()};
  std::byte* local = c.warp->local.data();
  const Side from{.bases = frame_bases, .local = local + LocalMemory::offset(frame->local_base, 0)};
  const Side to{.bases = parent_bases, .local = local + LocalMemory::offset(parent->local_base, 0)};
  const auto& results = frame->call->results;
  const auto& returns = frame->function->returns;
  for (std::size_t i = 0; i < std::min(results.size(), returns.size()); ++i) {
    copy_passed(from, returns[i], to, results[i], mask);
  }
  c.warp->running().frame = parent;
  c.pc = frame->return_pc;
  frame->lanes &= ~mask;
  if (frame->lanes == 0) {
    c.pool->give(frame);
  }
  c.load_frame(*parent);
  c.stop_pc = kNoStop;
  return c.warp->fragments.size() == 1 ? Step::kNext : Step::kSwitch;
}

Step exit_lanes(Context& c, std::uint32_t mask) {
  DEBUG_ASSERT((mask & ~c.warp->live) == 0 && (mask & ~c.warp->running().mask) == 0);
  if (c.weak != nullptr) {
    c.weak->exit(*c.warp->weak, mask);
  }
  c.warp->live &= ~mask;
  c.warp->running().mask &= ~mask;
  for (Frame* frame = c.frame; frame != nullptr;) {
    Frame* parent = frame->parent;
    frame->lanes &= ~mask;
    if (frame->lanes == 0) {
      c.pool->give(frame);
    }
    frame = parent;
  }
  complete_after_exit(*c.cta);
  return Step::kSwitch;
}

Step wait_for_members(Context& c, const Instruction& instruction, const Gathering& gathering) {
  const std::uint32_t goes_on = c.active & ~gathering.mask;
  const std::uint32_t retries = gathering.mask & ~gathering.group;
  if (goes_on != 0) {
    split_off(c, goes_on, c.pc);
  }
  if (retries != 0) {
    split_off(c, retries, c.pc - 1);
  }
  --c.pc;
  Fragment& fragment = c.warp->running();
  fragment.pc = c.pc;
  fragment.state = FragmentState::kCollective;
  fragment.members = gathering.members;
  fragment.meets_here = false;
  fragment.waits_at = &instruction;
  return Step::kSwitch;
}

}  // namespace barracuda::emulator
