#include "session/block_schedule.h"

#include "base/splitmix64.h"
#include "base/strong_id.h"

namespace barracuda::session {

bool renumbers_blocks(const Options& options, const DeviceDriver& driver) {
  return !driver.is_emulated() && (options.seed || options.schedule == "reversed");
}

wire::BlockOrder block_order_of(const Options& options, const DeviceDriver& driver,
                                const ptx::Kernel& kernel, const detector::LaunchInfo& launch) {
  if (!renumbers_blocks(options, driver) || !kernel.renumbers_blocks ||
      launch.cluster.volume() > 1) {
    return {};
  }
  // Every multiprocessor holds at least one block of a kernel that can be launched at all.
  wire::BlockOrder order{.window = driver.multiprocessors(), .turn = wire::BlockOrder::kBackwards};
  if (options.seed) {
    order.turn = static_cast<std::uint32_t>(mix_bits(*options.seed << 32U ^ index_of(launch.id)));
  }
  return order;
}

}  // namespace barracuda::session
