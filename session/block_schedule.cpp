#include "session/block_schedule.h"

#include "base/strong_id.h"

namespace barracuda::session {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// 2014): neighbouring seeds and launches get unrelated numbers.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ value >> 27U) * 0x94D049BB133111EBULL;
  return value ^ value >> 31U;
}

}  // namespace

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
    order.turn = static_cast<std::uint32_t>(mix(*options.seed << 32U ^ index_of(launch.id)));
  }
  return order;
}

}  // namespace barracuda::session
