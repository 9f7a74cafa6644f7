#include "session/block_schedule.h"

#include <set>

#include <catch2/catch.hpp>

#include "base/strong_id.h"
#include "host_memory_driver.h"

namespace barracuda::session {
namespace {

using wire::BlockOrder;

BlockOrder order_of(const Options& options, const HostMemoryDriver& driver,
                    std::uint32_t launch = 7, detector::Dim3 cluster = {}, bool rewritten = true) {
  ptx::Kernel kernel;
  kernel.renumbers_blocks = rewritten;
  return block_order_of(
      options, driver, kernel,
      {.id = detector::LaunchId{launch}, .cluster = cluster, .ordered_after = {}});
}

TEST_CASE("blocks keep their numbers unless a schedule was chosen for a GPU") {
  HostMemoryDriver driver;
  Options reversed;
  reversed.schedule = "reversed";
  CHECK(order_of(Options{}, driver).window == 0);
  CHECK(order_of(reversed, driver).window == driver.processors);
  CHECK(order_of(reversed, driver).turn == BlockOrder::kBackwards);
  CHECK(order_of(reversed, driver, 7, {.x = 2}).window == 0);
  CHECK(order_of(reversed, driver, 7, {}, false).window == 0);
  driver.emulated = true;
  CHECK(order_of(reversed, driver).window == 0);
}

TEST_CASE("seeds and launches have orders of their own, and the same again") {
  const HostMemoryDriver driver;
  std::set<std::uint32_t> turns;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Options options;
    options.seed = seed;
    for (std::uint32_t launch = 1; launch <= 4; ++launch) {
      turns.insert(order_of(options, driver, launch).turn);
      CHECK(order_of(options, driver, launch).turn == order_of(options, driver, launch).turn);
    }
  }
  CHECK(turns.size() == 16);
}

}  // namespace
}  // namespace barracuda::session
