// What all threads of a block do, by one record (wire::RecordKind::kBlockEvent).
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

// By the last warp of a block.
void event_of_block(Scenario& scenario, Operation kind, std::uint8_t warp,
                    std::uint32_t others = 0) {
  WarpOperation operation =
      scenario.start({.warp = warp, .mask = 1}, {.operation = kind}, RecordKind::kEvent);
  operation.is_of_block = true;
  operation.event_count = others;
  scenario.detector.apply(operation);
}

void access(Scenario& scenario, std::uint8_t warp, Operation kind) {
  WarpOperation operation =
      scenario.start({.warp = warp, .mask = 1}, word(kind), RecordKind::kAffine);
  operation.lanes[0].address = wire::tagged_address(wire::AddressSpace::kShared, 64);
  scenario.detector.apply(operation);
}

}  // namespace

TEST_CASE("a barrier of a block orders all its threads") {
  Scenario scenario;
  scenario.launch(1, 80);  // the last warp is half
  access(scenario, 0, Operation::kWrite);
  event_of_block(scenario, Operation::kBarrier, 2);
  access(scenario, 2, Operation::kRead);
  CHECK(scenario.races().empty());
  access(scenario, 1, Operation::kWrite);
  CHECK(scenario.has_only(Severity::kError));
  CHECK(scenario.detector.rejected() == 0);
}

TEST_CASE("barriers of a block with nothing between them are one") {
  Scenario scenario(1, 64);
  access(scenario, 0, Operation::kWrite);
  event_of_block(scenario, Operation::kBarrier, 1);
  event_of_block(scenario, Operation::kBarrier, 0);
  event_of_block(scenario, Operation::kBarrier, 1);
  access(scenario, 1, Operation::kWrite);
  event_of_block(scenario, Operation::kBarrier, 0);
  event_of_block(scenario, Operation::kBarrier, 0);
  access(scenario, 0, Operation::kRead);
  CHECK(scenario.races().empty());
  access(scenario, 1, Operation::kWrite);  // beside that read
  CHECK(scenario.has_only(Severity::kError));
  event_of_block(scenario, Operation::kBarrier, 0);
  event_of_block(scenario, Operation::kExit, 1);
  CHECK(scenario.detector.launch_over(LaunchId{1}));
  CHECK(scenario.detector.rejected() == 0);
}

TEST_CASE("a block of which nothing else came ends") {
  Scenario scenario(1, 64);
  event_of_block(scenario, Operation::kExit, 1);
  CHECK(scenario.detector.launch_over(LaunchId{1}));
  CHECK(scenario.detector.rejected() == 0);
  event_of_block(scenario, Operation::kExit, 1);
  CHECK(scenario.detector.rejected() == 1);
}

TEST_CASE("the end of all blocks ends the launch") {
  Scenario scenario(1, 80);
  event_of_block(scenario, Operation::kBarrier, 0);
  CHECK_FALSE(scenario.detector.launch_over(LaunchId{1}));
  event_of_block(scenario, Operation::kExit, 1);
  CHECK(scenario.detector.launch_over(LaunchId{1}));
  CHECK(scenario.detector.rejected() == 0);
}

TEST_CASE("a block's end is that of others of which nothing came") {
  Scenario scenario(5, 64);
  SECTION("nothing came of it either") {}
  SECTION("it did something") {
    access(scenario, 0, Operation::kWrite);
  }
  event_of_block(scenario, Operation::kExit, 1, 5);  // more than there are
  CHECK(scenario.detector.rejected() == 1);
  event_of_block(scenario, Operation::kExit, 1, 4);
  CHECK(scenario.detector.launch_over(LaunchId{1}));
  CHECK(scenario.detector.rejected() == 1);
  CHECK(scenario.races().empty());
}

TEST_CASE("an event of a block that some of it has left is refused") {
  Scenario scenario(1, 64);
  scenario.detector.apply(
      scenario.start({.warp = 0, .mask = 1}, {.operation = Operation::kExit}, RecordKind::kEvent));
  event_of_block(scenario, Operation::kBarrier, 1);
  CHECK(scenario.detector.rejected() == 1);
}

}  // namespace barracuda::detector::test
