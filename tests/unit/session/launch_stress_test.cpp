#include "session/launch_stress.h"

#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "device_logger/stress_beside.h"
#include "session/store_delayer.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/session/host_memory_driver.h"

namespace barracuda::session {
namespace {

using detector::Dim3;
using stress::StressKind;

Options stressing(const std::string& stress = "random", const std::string& shuffle = "none") {
  Options options;
  options.stress = stress;
  options.shuffle = shuffle;
  options.weak_seed = 7;
  return options;
}

ptx::Kernel any_kernel() {
  ptx::Kernel kernel;
  kernel.renumbers_blocks = kernel.resizes_grid = true;
  kernel.warps_together = 1;
  return kernel;
}

LaunchStress::Placed placed_of(LaunchStress& stress, const Dim3& grid,
                               const ptx::Kernel& kernel = any_kernel(), const Dim3& cluster = {},
                               bool is_cooperative = false) {
  const auto placed = stress.place({.kernel = kernel,
                                    .grid = grid,
                                    .block = {.x = 128},
                                    .cluster = cluster,
                                    .is_cooperative = is_cooperative});
  REQUIRE(placed);
  return *placed;
}

}  // namespace

TEST_CASE("a program is rewritten for stress on a GPU, or where that is asked for") {
  CHECK_FALSE(is_stressed(Options{}, false));
  CHECK(is_stressed(stressing(), false));
  CHECK_FALSE(is_stressed(stressing("none", "blocks"), false));  // in logged code
  Options rewritten = stressing("none", "blocks");
  rewritten.delay_levels = "rewrite";
  CHECK(is_stressed(rewritten, true));
  CHECK(rewrites_program(rewritten, true));
  CHECK_FALSE(rewrites_stores(rewritten, true));
}

TEST_CASE("the emulated device has no hardware to stress, but runs rewritten code") {
  const auto refused = stress_of(stressing(), true);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("no hardware to stress") != std::string::npos);
  Options rewritten = stressing();
  rewritten.delay_levels = "rewrite";
  CHECK(stress_of(rewritten, true)->kind == StressKind::kRandom);
  CHECK(stress_of(Options{}, true)->kind == StressKind::kNone);
}

TEST_CASE("parameters come from a file; what is wrong with it is said") {
  const ScratchFolder folder;
  const std::string file = folder / "tuned.stress";
  REQUIRE(write_file(file, "barracuda-stress 1\nstress systematic\nwords 1024\nspread 4\n"));
  Options options = stressing("tuned");
  options.stress_parameters = file;
  CHECK(stress_of(options, false)->kind == StressKind::kSystematic);
  CHECK(stress_of(options, false)->spread == 4);
  options.stress = "cache";
  CHECK(stress_of(options, false)->kind == StressKind::kCache);
  REQUIRE(write_file(file, "barracuda-stress 1\nwords 1000\n"));
  CHECK(stress_of(options, false).error().message.find("power of two") != std::string::npos);
  options.stress_parameters = "absent.stress";
  CHECK_FALSE(stress_of(options, false));
  CHECK(stress_of(stressing("tuned"), false)->kind == StressKind::kRandom);  // built in
}

TEST_CASE("15 to 50 % more blocks, in x or in the smallest slices, in whole clusters") {
  HostMemoryDriver driver;
  Problems problems;
  const Options options = stressing();
  const auto stress = LaunchStress::create(options, driver, problems).value();
  std::set<std::uint32_t> extras;
  for (int i = 0; i < 50; ++i) {
    const auto line = placed_of(*stress, {.x = 1000});
    CHECK(line.grid.x >= 1150);
    CHECK(line.grid.x <= 1500);
    CHECK(line.launch.extra == line.grid.x - 1000);
    CHECK(line.launch.phase < line.grid.x);
    CHECK(line.launch.grid[0] == 1000);
    extras.insert(line.launch.extra);
  }
  CHECK(extras.size() > 10);
  const auto plane = placed_of(*stress, {.x = 10, .y = 400, .z = 1});
  CHECK(plane.grid.x == 10);
  CHECK(plane.grid.y > 400);
  CHECK(plane.launch.extra == (plane.grid.y - 400) * 10);
  const auto clusters = placed_of(*stress, {.x = 64, .y = 2}, any_kernel(), {.x = 4, .y = 2});
  CHECK(clusters.grid.x > 64);
  CHECK(clusters.grid.x % 4 == 0);
  CHECK(clusters.launch.extra == (clusters.grid.x - 64) / 4);
  CHECK(placed_of(*stress, {.x = 2}).grid.x == 3);
  CHECK(driver.blocks.size() == 1);  // one scratch memory
  stress->close(Handle{1});
  CHECK(driver.blocks.empty());
}

TEST_CASE("no blocks are added where that could change or hang a program") {
  HostMemoryDriver driver;
  Problems problems;
  const Options options = stressing();
  const auto stress = LaunchStress::create(options, driver, problems).value();
  const Dim3 grid{.x = 100};
  CHECK(placed_of(*stress, grid, any_kernel(), {}, true).grid == grid);
  ptx::Kernel fixed = any_kernel();
  fixed.resizes_grid = false;
  CHECK(placed_of(*stress, grid, fixed).grid == grid);
  const Dim3 longest{.x = 0x7fffffff};
  CHECK(placed_of(*stress, longest).grid == longest);
  CHECK_FALSE(stress->place({.kernel = fixed, .grid = grid, .block = {}, .cluster = {.x = 3}}));
  const Dim3 huge{.x = 1U << 30, .y = 1U << 10};
  CHECK_FALSE(stress->place({.kernel = fixed, .grid = huge, .block = {}, .cluster = {}}));
  driver.limit = 0;
  const auto without = LaunchStress::create(options, driver, problems).value();
  CHECK(placed_of(*without, grid).grid == grid);
  CHECK(problems.sentences().size() == 1);
}

TEST_CASE("numbers are shuffled among as many as the device holds at once") {
  HostMemoryDriver driver;
  Problems problems;
  const Options options = stressing("none", "warps");
  const auto stress = LaunchStress::create(options, driver, problems).value();
  const auto placed = placed_of(*stress, {.x = 1000});
  CHECK(placed.grid.x == 1000);
  CHECK(placed.launch.extra == 0);
  CHECK(placed.launch.clusters.window == driver.processors);
  CHECK(placed.launch.clusters.factor > driver.processors);
  CHECK(placed.launch.warps.window == 32);
  CHECK(placed.launch.warps_together == 1);
  CHECK(placed_of(*stress, {.x = 64}, any_kernel(), {.x = 4}).launch.clusters.window ==
        driver.processors / 8);
  std::set<std::pair<std::uint32_t, std::uint32_t>> orders;
  for (int i = 0; i < 20; ++i) {
    const auto order = placed_of(*stress, {.x = 1000}).launch.clusters;
    orders.emplace(order.factor, order.turn);
  }
  CHECK(orders.size() == 20);
  ptx::Kernel fixed;
  CHECK(placed_of(*stress, {.x = 1000}, fixed).launch.clusters.window == 0);
  CHECK(placed_of(*stress, {.x = 1000}, fixed).launch.warps_together == 0);
}

TEST_CASE("beside a launch without blocks for it, a kernel stresses for a while, if asked for") {
  HostMemoryDriver driver;
  Problems problems;
  Options options = stressing();
  options.stress_time = 500;
  const ptx::Kernel kernel;
  LaunchStress::Request request{
      .kernel = kernel, .grid = {.x = 8}, .block = {.x = 32}, .cluster = {}};
  const auto silent = LaunchStress::create(options, driver, problems).value();
  CHECK(silent->begin_beside(request, std::nullopt) == 0);
  options.stress_beside = true;
  const auto stress = LaunchStress::create(options, driver, problems).value();
  LaunchStress::Placed placed;
  placed.launch.extra = 1;
  CHECK(stress->begin_beside(request, placed) == 0);
  std::vector<std::uint32_t> nanoseconds;
  driver.on_start = [&](const ToolKernel& own) {
    nanoseconds.push_back(
        static_cast<const wire::StressBeside*>(own.arguments.front())->nanoseconds);
  };
  CHECK(stress->begin_beside(request, stress->place(request)) == 1);
  request.is_cooperative = true;
  CHECK(stress->begin_beside(request, stress->place(request)) == 2);
  CHECK(nanoseconds == std::vector<std::uint32_t>{500'000'000, 10'000'000});
  stress->end_beside(2, {});
  REQUIRE(driver.written.size() == 1);
  CHECK(driver.written.front().second == 2);
  driver.emulated = true;
  CHECK(stress->begin_beside(request, std::nullopt) == 0);
}

TEST_CASE("a stressed launch finds its place behind its descriptor, whether or not it delays") {
  HostMemoryDriver driver;
  Problems problems;
  const auto delayer = StoreDelayer::create(stressing(), driver, problems).value();
  const wire::StressedLaunch launch{.extra = 3, .seed = 5};
  CHECK(delayer->begin("k", {.x = 4}, {.x = 32}, detector::StreamKey{1}) == nullptr);
  const auto* const taken =
      delayer->begin("k", {.x = 4}, {.x = 32}, detector::StreamKey{1}, &launch);
  REQUIRE(taken != nullptr);
  CHECK(taken->store_delays.arena == 0);
  REQUIRE(taken->stressed != 0);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the host
  CHECK(reinterpret_cast<const wire::StressedLaunch*>(taken->stressed)->seed == 5);
  delayer->close(Handle{1});
}

}  // namespace barracuda::session
