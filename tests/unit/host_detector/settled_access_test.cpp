// Accesses that another thread logs, in a later interval or by another block
// (wire::RecordKind::kSettled).
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

// Logged by block 0, of lane 0 of a warp of `cta`.
void settled(Scenario& scenario, std::uint32_t cta, Operation kind, std::uint64_t address = kData,
             std::uint8_t warp = 0) {
  WarpOperation operation = scenario.start({.warp = warp}, word(kind), RecordKind::kAffine);
  operation.is_earlier = operation.is_settled = true;
  operation.settled_cta = cta;
  operation.lanes[0].address = address;
  scenario.detector.apply(operation);
}

void leave(Scenario& scenario, std::uint32_t cta, std::uint32_t warps) {
  for (std::uint8_t warp = 0; warp < warps; ++warp) {
    scenario.detector.apply(scenario.start({.cta = cta, .warp = warp, .mask = kAll},
                                           {.operation = Operation::kExit}, RecordKind::kEvent));
  }
}

}  // namespace

TEST_CASE("a settled access races with what other blocks do, before and after it") {
  Scenario scenario(3, 64);
  settled(scenario, 1, Operation::kWrite);
  scenario.read({.cta = 0}, kData);
  CHECK(scenario.has_only(Severity::kError));
  CHECK(scenario.races()[0].first.thread.cta == 1);
  scenario.read({.cta = 2}, kFlag);
  settled(scenario, 1, Operation::kWrite, kFlag);
  CHECK(scenario.races().size() == 2);
  CHECK(scenario.detector.rejected() == 0);
}

TEST_CASE("a settled access is before all that its own block does") {
  Scenario scenario(2, 64);
  scenario.read({.cta = 1, .warp = 1}, kData);
  settled(scenario, 1, Operation::kWrite);
  scenario.write({.cta = 1, .warp = 1}, kData);
  CHECK(scenario.races().empty());
  // And hides nothing that the block did.
  scenario.read({.cta = 1, .warp = 0}, kFlag);
  settled(scenario, 1, Operation::kWrite, kFlag);
  scenario.write({.cta = 1, .warp = 1}, kFlag);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a block that is over may have made a settled access") {
  Scenario scenario(2, 32);
  leave(scenario, 1, 1);
  settled(scenario, 1, Operation::kWrite);
  scenario.write({.cta = 0}, kData);
  CHECK(scenario.has_only(Severity::kError));
  CHECK(scenario.detector.rejected() == 0);
}

TEST_CASE("a settled access is ordered as its launch is") {
  Scenario scenario;
  const LaunchId first = scenario.launch(2, 32);
  settled(scenario, 1, Operation::kWrite);
  leave(scenario, 0, 1);
  leave(scenario, 1, 1);
  const LaunchId second = scenario.launch(1, 32, {first});
  scenario.write({.launch = second}, kData);
  CHECK(scenario.races().empty());
  const LaunchId third = scenario.launch(1, 32);
  scenario.write({.launch = third}, kData);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a settled access of no block or no warp of the launch is refused") {
  Scenario scenario(2, 32);
  settled(scenario, 2, Operation::kWrite);
  settled(scenario, 1, Operation::kWrite, kData, 1);
  settled(scenario, 1, Operation::kWrite, shared(64));
  CHECK(scenario.detector.rejected() == 3);
  CHECK(scenario.races().empty());
}

}  // namespace barracuda::detector::test
