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

TEST_CASE("blocks are shuffled on both devices, each launch in another way") {
  HostMemoryDriver driver;
  Options options;
  options.shuffle = "blocks";
  for (const bool emulated : {false, true}) {
    driver.emulated = emulated;
    CHECK(renumbers_blocks(options, driver));
    const BlockOrder order = order_of(options, driver);
    CHECK(order.window == driver.processors);
    CHECK(order.factor > driver.processors);
    CHECK((order_of(options, driver, 8).factor != order.factor ||
           order_of(options, driver, 8).turn != order.turn));
    CHECK(order_of(options, driver, 7, {.x = 2}).window == 0);
  }
}

TEST_CASE("a drawn order gives every number of each window once, also of the last one") {
  for (std::uint64_t random = 1; random < 200; ++random) {
    const BlockOrder order = shuffled(132, random * 0x9e3779b97f4a7c15U);
    for (const std::uint32_t blocks : {1U, 2U, 100U, 132U, 264U, 300U}) {
      std::set<std::uint32_t> numbers;
      for (std::uint32_t block = 0; block < blocks; ++block) {
        numbers.insert(wire::program_block(order, block, blocks));
      }
      CHECK(numbers.size() == blocks);
      CHECK(*numbers.rbegin() == blocks - 1);
    }
  }
}

}  // namespace
}  // namespace barracuda::session
