// alloca, stacksave, stackrestore: the lanes of a frame share the height of its stack.
#include <algorithm>
#include <bit>

#include "base/align.h"
#include "emulator/execute/asynchronous.h"
#include "emulator/execute/lanes/lanes.h"
#include "emulator/state/program.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

using baseline::fill;
using baseline::source;
using baseline::target;

Step execute_allocate(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto* sizes = source<std::uint64_t>(c, in.a);
  const std::uint64_t alignment = std::uint64_t{1} << in.count;
  std::uint64_t most = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    most = std::max(most, sizes[std::countr_zero(rest)]);
  }
  Frame& frame = *c.frame;
  const std::uint64_t base = std::uint64_t{frame.local_base} + frame.function->local_bytes;
  const std::uint64_t begin = align_up(base + frame.allocated, alignment);
  const std::uint64_t end = align_up(begin + most, 16);
  if (most > LocalMemory::kMaximumLaneBytes ||
      !c.warp->local.reserve(static_cast<std::uint32_t>(end))) {
    return fail(c, in,
                Fault{.code = DeviceErrorCode::kStackOverflow,
                      .lane = std::countr_zero(mask),
                      .what = "the stack of a thread has overflowed"});
  }
  frame.allocated = static_cast<std::uint32_t>(end - base);
  c.load_frame(frame);
  fill(target<std::uint64_t>(c, in.d), mask, [begin](int) { return begin; });
  return Step::kNext;
}

Step execute_save_stack(Context& c, const Instruction& in, std::uint32_t mask) {
  const std::uint64_t height = c.frame->allocated;
  fill(target<std::uint64_t>(c, in.d), mask, [height](int) { return height; });
  return Step::kNext;
}

Step execute_restore_stack(Context& c, const Instruction& in, std::uint32_t mask) {
  // Where lanes have gone apart, others may still use what these give back.
  if (mask == c.frame->lanes) {
    const auto* heights = source<std::uint64_t>(c, in.a);
    std::uint64_t most = 0;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      most = std::max(most, heights[std::countr_zero(rest)]);
    }
    c.frame->allocated = std::min(c.frame->allocated, static_cast<std::uint32_t>(most));
  }
  return Step::kNext;
}

}  // namespace barracuda::emulator
