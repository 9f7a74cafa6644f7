// Accesses of surfaces (RACE_RULES section 1).
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kFirst{.cta = 0};
constexpr Who kSecond{.cta = 1};

}  // namespace

TEST_CASE("surface accesses are ordered within a block alone, and from launch to launch") {
  SiteInfo load = word(Operation::kRead), store = word(Operation::kWrite);
  load.proxy = store.proxy = wire::Proxy::kSurface;
  Scenario block, blocks, later, other_path;
  block.launch(1, 64);
  block.access({.warp = 0, .mask = kAll}, store, kData, 4);
  block.barrier({.warp = 0, .mask = kAll});
  block.barrier({.warp = 1, .mask = kAll});
  block.access({.warp = 1, .mask = kAll}, load, kData, 4);
  CHECK(block.is_clean());

  const SiteInfo flag = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
  const SiteInfo poll = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);
  blocks.launch(2, 1);
  blocks.access(kFirst, store, kData);
  blocks.store(kFirst, flag, kFlag, 1);
  blocks.load(kSecond, poll, kFlag, 1);
  blocks.access(kSecond, load, kData);
  REQUIRE(blocks.has_only(Severity::kError));
  CHECK(blocks.races()[0].missing == MissingOrder::kSurfaceBlocks);

  const LaunchId first = later.launch(1, 1);
  later.access({.launch = first}, store, kData);
  later.exit({.launch = first});
  const LaunchId second = later.launch(1, 1, {first});
  later.access({.launch = second}, load, kData);
  CHECK(later.is_clean());

  other_path.launch(1, 64);
  other_path.write({.warp = 0, .mask = kAll}, kData, 4);
  other_path.barrier({.warp = 0, .mask = kAll});
  other_path.barrier({.warp = 1, .mask = kAll});
  other_path.access({.warp = 1, .mask = kAll}, load, kData, 4);
  CHECK(other_path.has_only(Severity::kError));

  // A later store by the same thread stands for no access of a surface.
  Scenario hidden;
  hidden.launch(1, 64);
  hidden.access({.warp = 0, .mask = kAll}, store, kData, 4);
  hidden.write({.warp = 0, .mask = kAll}, kData, 4);
  hidden.barrier({.warp = 0, .mask = kAll});
  hidden.barrier({.warp = 1, .mask = kAll});
  hidden.read({.warp = 1, .mask = kAll}, kData, 4);
  CHECK(hidden.has_only(Severity::kError));
}

}  // namespace barracuda::detector::test
