#include "session/block_schedule.h"

#include <algorithm>

#include "base/splitmix64.h"
#include "base/strong_id.h"

namespace barracuda::session {

namespace {

constexpr std::uint32_t kMostWindow = 1U << 15;

bool is_prime(std::uint32_t number) {
  for (std::uint32_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

// A prime above the window has no divisor in common with any size up to it.
wire::BlockOrder shuffled(std::uint32_t window, std::uint64_t random) {
  constexpr std::uint32_t kLargestPrime = 65521;  // of 16 bits
  window = std::min(window, kMostWindow);
  std::uint32_t factor = window + 1 + static_cast<std::uint32_t>(random % (kLargestPrime - window));
  while (!is_prime(factor)) {
    ++factor;
  }
  return {.window = static_cast<std::uint16_t>(window),
          .factor = static_cast<std::uint16_t>(factor),
          .turn = static_cast<std::uint32_t>(random >> 32U) & ~wire::BlockOrder::kBackwards};
}

bool renumbers_blocks(const Options& options, const DeviceDriver& driver) {
  return options.shuffle != "none" ||
         (!driver.is_emulated() && (options.seed || options.schedule == "reversed"));
}

wire::BlockOrder block_order_of(const Options& options, const DeviceDriver& driver,
                                const ptx::Kernel& kernel, const detector::LaunchInfo& launch) {
  if (!renumbers_blocks(options, driver) || !kernel.renumbers_blocks ||
      launch.cluster.volume() > 1) {
    return {};
  }
  // Every multiprocessor holds at least one block of a kernel that can be launched at all.
  const std::uint32_t window = driver.size().multiprocessors;
  if (options.shuffle != "none") {
    const std::uint64_t seed = options.weak_seed.value_or(options.seed.value_or(1));
    return shuffled(window, mix_bits(mix_bits(seed) ^ index_of(launch.id)));
  }
  wire::BlockOrder order{.window = static_cast<std::uint16_t>(std::min(window, kMostWindow)),
                         .turn = wire::BlockOrder::kBackwards};
  if (options.seed) {
    order.turn = static_cast<std::uint32_t>(mix_bits(*options.seed << 32U ^ index_of(launch.id)));
  }
  return order;
}

}  // namespace barracuda::session
