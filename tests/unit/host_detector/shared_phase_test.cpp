// Of shared memory nothing is kept from before a barrier at which the whole block waited. What such
// a barrier is, and what only looks like one.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kFirst{.warp = 0}, kSecond{.warp = 1}, kThird{.warp = 2};

void wait(Scenario& scenario, const Who& who, std::uint32_t id = 0, std::uint32_t threads = 0) {
  scenario.barrier({.cta = who.cta, .warp = who.warp, .mask = kAll}, id, threads);
}

}  // namespace

TEST_CASE("a barrier of the whole block divides what is done to its shared memory") {
  Scenario scenario(1, 64);
  for (int round = 0; round < 3; ++round) {
    scenario.write(kFirst, shared(0));
    wait(scenario, kFirst);
    wait(scenario, kSecond);
    scenario.write(kSecond, shared(0));
    wait(scenario, kSecond);
    wait(scenario, kFirst);
  }
  CHECK(scenario.is_clean());
  const SiteId written = scenario.write(kSecond, shared(0));
  scenario.read(kFirst, shared(0));
  REQUIRE(scenario.has_only(Severity::kError));
  CHECK(scenario.races()[0].first.site == written);
}

TEST_CASE("threads that left without having touched memory are not missed at a barrier") {
  Scenario scenario(1, 48);
  scenario.exit({.warp = 1, .mask = 0xFF});
  scenario.write(kFirst, shared(0));
  wait(scenario, kFirst);
  scenario.barrier({.warp = 1, .mask = 0xFF00});
  scenario.write({.warp = 1, .mask = 1 << 8}, shared(0));
  CHECK(scenario.is_clean());
}

TEST_CASE("what a thread did that left before the barrier is not ordered by it") {
  Scenario scenario(1, 64);
  scenario.write(kSecond, shared(0));
  scenario.exit({.warp = 1, .mask = kAll});
  wait(scenario, kFirst);
  scenario.read(kFirst, shared(0));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a barrier of some warps leaves what the others did") {
  Scenario scenario(1, 96);
  scenario.write(kThird, shared(0));
  wait(scenario, kFirst, 1, 64);
  wait(scenario, kSecond, 1, 64);
  scenario.read(kFirst, shared(0));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("who arrived and did not wait goes on without order") {
  Scenario scenario(1, 64);
  scenario.barrier_arrive({.warp = 0, .mask = kAll}, 1, 64);
  scenario.write(kFirst, shared(0));
  wait(scenario, kSecond, 1, 64);
  scenario.read(kSecond, shared(0));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("who arrives again before the others have come arrives for the next phase") {
  Scenario scenario(1, 64);
  const auto arrive = [&] { scenario.barrier_arrive({.warp = 0, .mask = kAll}, 1, 64); };
  scenario.write(kFirst, shared(0));
  arrive();
  scenario.write(kFirst, shared(4));
  arrive();
  wait(scenario, kSecond, 1, 64);
  scenario.read(kSecond, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kSecond, shared(4));
  CHECK(scenario.has_only(Severity::kError));
  wait(scenario, kSecond, 1, 64);
  scenario.write(kSecond, shared(4));
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("a barrier of a block does not order what others of its cluster do to its memory") {
  Scenario scenario;
  LaunchInfo launch{.id = LaunchId{1}};
  launch.grid.x = launch.cluster.x = 2;
  scenario.detector.begin_launch(launch);
  scenario.write({.cta = 1}, wire::tagged_address(wire::AddressSpace::kSharedCluster, 0));
  scenario.barrier({.cta = 0});
  scenario.read({.cta = 0}, shared(0));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("what was released through shared memory before a barrier is known to all after it") {
  const SiteInfo store = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
  const SiteInfo load = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);
  Scenario scenario(2, 96);
  scenario.write({.cta = 1}, kData);
  scenario.store({.cta = 1}, store, kFlag, 1);
  scenario.load(kFirst, load, kFlag, 1);
  scenario.store(kFirst, store, shared(0), 1);
  for (const Who& who : {kFirst, kSecond, kThird}) {
    wait(scenario, who);
  }
  scenario.write(kFirst, kData + 4);
  scenario.load(kSecond, load, shared(0), 1);
  scenario.read(kSecond, kData);
  CHECK(scenario.is_clean());
  scenario.read(kSecond, kData + 4);
  CHECK(scenario.has_only(Severity::kError));
}

}  // namespace barracuda::detector::test
