#include "emulator/execute/native.h"

#include <array>

#include "base/assert.h"
#include "emulator/execute/address.h"
#include "emulator/execute/special.h"
#include "emulator/state/cluster.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

namespace {

LaneValues values_of(const Context& c, const Passed& passed) {
  if (passed.slot == kNoSlot) {
    return {.data = c.frame_local + local_step(passed.local_offset), .stride = 8};
  }
  return {.data = c.bases[passed.slot >> 31] + (passed.slot & ~kConstantSlot),
          .stride = passed.bytes == 8 ? 8U : 4U};
}

// A lane that waits for others gives each of them a turn between two tries.
constexpr std::uint32_t kTriesToMeet = 1024;

}  // namespace

bool NativeCall::waits_for(std::uint32_t members) const {
  Fragment& fragment = context->warp->running();
  if ((members & context->warp->live & ~mask) == 0 || ++fragment.tries > kTriesToMeet) {
    fragment.tries = 0;
    return false;
  }
  return true;
}

GenericPlace NativeCall::place_of(std::uint64_t generic_address) const {
  const AddressWindow window = window_of(*context, generic_address);
  if (window == AddressWindow::kGlobal) {
    return {.space = GenericPlace::Space::kGlobal, .rank = 0, .offset = generic_address};
  }
  if (window != AddressWindow::kShared && window != AddressWindow::kSharedOfCta) {
    return {};
  }
  const std::uint64_t offset = generic_address - context->windows.shared();
  const bool is_own = window == AddressWindow::kSharedOfCta;
  return {.space = GenericPlace::Space::kShared,
          .rank = is_own ? rank : static_cast<std::uint32_t>(offset / kClusterShare - 1),
          .offset = offset % kClusterShare};
}

std::shared_ptr<const TextureView> NativeCall::texture_of(std::uint64_t handle) const {
  return context->launch->textures.find(handle);
}

Step execute_native(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto& site = *static_cast<const NativeSite*>(in.extra);
  std::array<LaneValues, kMaximumNativeArguments> arguments;
  const std::size_t count = site.call.arguments.size();
  DEBUG_ASSERT(count <= arguments.size() && site.function != nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    arguments[i] = values_of(c, site.call.arguments[i]);
  }
  const NativeCall call{
      .mask = mask,
      .arguments = {arguments.data(), count},
      .result = site.call.results.empty() ? LaneValues{} : values_of(c, site.call.results.front()),
      .shared_variable = c.shared + site.shared_offset,
      .shared = c.shared,
      .cta = c.cta->number,
      .cluster = c.cta->cluster->number,
      .ctas = c.launch->config.grid.volume(),
      .rank = c.cta->rank,
      .warp = c.warp->index,
      .threads = static_cast<std::uint32_t>(c.launch->config.block.volume()),
      .context = &c,
  };
  if (site.function->execute(call) == NativeResult::kDone) {
    return Step::kNext;
  }
  --c.pc;
  charge_poll(c);
  c.yields = true;
  return Step::kSwitch;
}

}  // namespace barracuda::emulator
