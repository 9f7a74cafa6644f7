// Accesses that another thread logs, later in the same barrier interval
// (wire::RecordKind::kEarlier).
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr std::uint64_t kWord = wire::tagged_address(wire::AddressSpace::kShared, 64);

// By lane 0 of a warp.
void access(Scenario& scenario, std::uint8_t warp, Operation kind, bool is_earlier = false) {
  WarpOperation operation =
      scenario.start({.warp = warp, .mask = 1}, word(kind), RecordKind::kAffine);
  operation.is_earlier = is_earlier;
  operation.lanes[0].address = kWord;
  scenario.detector.apply(operation);
}

}  // namespace

TEST_CASE("who waits at a barrier has made an earlier access before it") {
  Scenario scenario(1, 64);
  scenario.barrier({.warp = 0, .mask = ~0U});
  access(scenario, 0, Operation::kWrite, true);
  CHECK(scenario.races().empty());
  access(scenario, 1, Operation::kRead);
  CHECK(scenario.has_only(Severity::kError));
  scenario.barrier({.warp = 1, .mask = ~0U});
  access(scenario, 0, Operation::kRead);
  CHECK(scenario.races().size() == 1);
  CHECK(scenario.detector.rejected() == 0);
}

TEST_CASE("an earlier access does not open the barrier at which its thread waits") {
  Scenario scenario(1, 64);
  access(scenario, 1, Operation::kWrite);
  scenario.barrier({.warp = 0, .mask = ~0U});
  access(scenario, 0, Operation::kRead, true);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("who has left is not ordered before who passes the barrier without it") {
  Scenario scenario(1, 64);
  WarpOperation leave =
      scenario.start({.warp = 0, .mask = ~0U}, {.operation = Operation::kExit}, RecordKind::kEvent);
  leave.event_operand = 1;
  scenario.detector.apply(leave);
  scenario.barrier({.warp = 1, .mask = ~0U});
  access(scenario, 0, Operation::kWrite, true);
  access(scenario, 1, Operation::kRead);
  CHECK(scenario.has_only(Severity::kError));
}

}  // namespace barracuda::detector::test
