// Accesses that another thread logs, later in the same barrier interval
// (wire::RecordKind::kEarlier).
#include <catch2/catch.hpp>

#include "device_logger/copy_states.h"
#include "tests/unit/host_detector/async_scenario.h"

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

namespace {

// By lane 0 of warp 0, before what it has published; told of now.
void store_early(Scenario& scenario) {
  SiteInfo site = word(Operation::kWrite);
  site.is_before_publications = true;
  WarpOperation operation = scenario.start({.mask = 1}, site, RecordKind::kAffine);
  operation.is_earlier = true;
  operation.lanes[0].address = kWord;
  scenario.detector.apply(operation);
}

}  // namespace

TEST_CASE("what another lane did later came after no store of its warp for that") {
  Scenario scenario(1, 32);
  scenario.fence({.mask = 1}, Scope::kCta);
  scenario.read({.mask = 2}, kWord);
  store_early(scenario);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a store before what its thread published is before who learnt of that") {
  const SiteInfo flag_store = word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kCta),
                 flag_load = word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kCta);
  const auto learn = [&](Scenario& scenario, std::uint8_t warp) {
    scenario.load({.warp = warp}, flag_load, shared(0), 1);
    scenario.fence({.warp = warp}, Scope::kCta);
  };
  for (const bool learns : {true, false}) {
    for (const bool is_told_first : {true, false}) {
      INFO(learns << is_told_first);
      Scenario scenario(1, 96);
      scenario.fence({.warp = 0}, Scope::kCta);
      scenario.store({.warp = 0}, flag_store, shared(0), 1);
      learn(scenario, 1);
      if (learns) {
        learn(scenario, 2);
      }
      // The thread that meets the store logs it, but another thread may log its own access first.
      if (is_told_first) {
        store_early(scenario);
      }
      access(scenario, 2, Operation::kRead);
      if (!is_told_first) {
        store_early(scenario);
      }
      access(scenario, 1, Operation::kRead);
      CHECK(scenario.races().size() == (learns ? 0 : 1));
      access(scenario, 1, Operation::kWrite);  // beside the second reader
      CHECK(scenario.races().size() == (learns ? 1 : 2));
    }
  }
}

namespace {

// By a lane of warp 0, in an interval in which barriers of warps are counted; told of later.
void access_in(Scenario& scenario, std::uint32_t lane, Operation kind, std::uint16_t interval) {
  WarpOperation operation = scenario.start({.warp = 0, .mask = std::uint32_t{1} << lane},
                                           word(kind), RecordKind::kAffine);
  operation.is_earlier = true;
  operation.interval = interval;
  operation.lanes[lane].address = kWord;
  scenario.detector.apply(operation);
}

void tell_barriers(Scenario& scenario, std::uint16_t interval) {
  WarpOperation operation =
      scenario.start({.warp = 0, .mask = ~0U}, word(Operation::kWrite), RecordKind::kWarpBarriers);
  operation.interval = interval;
  scenario.detector.apply(operation);
}

}  // namespace

TEST_CASE("what a warp did before a counted barrier is before what it does behind it") {
  Scenario scenario(1, 64);
  tell_barriers(scenario, 8 + 2);
  access_in(scenario, 0, Operation::kWrite, 8 + 1);
  access_in(scenario, 1, Operation::kWrite, 8 + 2);
  CHECK(scenario.races().empty());
  access_in(scenario, 2, Operation::kRead, 8 + 2);  // no barrier between these
  CHECK(scenario.has_only(Severity::kError));
  CHECK(scenario.detector.rejected() == 0);
}

TEST_CASE("a counted barrier is one of its warp and of its interval") {
  Scenario scenario(1, 64);
  access_in(scenario, 0, Operation::kWrite, 8);
  tell_barriers(scenario, 8 + 1);
  tell_barriers(scenario, 8 + 1);  // again: nothing new
  access_in(scenario, 1, Operation::kRead, 8 + 1);
  CHECK(scenario.races().empty());
  access(scenario, 1, Operation::kRead);  // another warp
  CHECK(scenario.has_only(Severity::kError));

  Scenario next(1, 64);
  tell_barriers(next, 8 + 3);
  next.barrier({.warp = 0, .mask = ~0U});
  next.barrier({.warp = 1, .mask = ~0U});
  access_in(next, 0, Operation::kWrite, 16);
  tell_barriers(next, 16 + 1);  // one, though three were told before the block's
  access_in(next, 1, Operation::kRead, 16 + 1);
  CHECK(next.races().empty());
  access_in(next, 2, Operation::kWrite, 16 + 1);
  CHECK(next.has_only(Severity::kError));
}

namespace {

// By lane 0 of warp 0, of its first group; told of now, as under way.
void copy_before(Scenario& scenario) {
  SiteInfo site = word(Operation::kWrite);
  site.asynchrony = Asynchrony::kThreadGroup;
  WarpOperation operation = scenario.start({.mask = 1}, site, RecordKind::kAffine);
  operation.is_earlier = true;
  operation.interval = wire::kCopyPending;
  operation.uniform_value = wire::CopyRecord{.group = 1}.packed();
  operation.lanes[0].address = kWord;
  scenario.detector.apply(operation);
}

}  // namespace

TEST_CASE(
    "barriers before a copy is first told of do not end it, whatever of it was logged before") {
  for (const bool has_logged_read : {false, true}) {
    AsyncScenario scenario(1, 64);
    if (has_logged_read) {
      SiteInfo site = word(Operation::kRead);
      site.asynchrony = Asynchrony::kThreadGroup;
      scenario.access({.mask = 1}, site, kData, 4);
      scenario.commit({.mask = 1});
    }
    const auto meet = [&] {
      scenario.barrier({.warp = 0, .mask = ~0U});
      scenario.barrier({.warp = 1, .mask = ~0U});
    };
    meet();
    meet();
    copy_before(scenario);
    access(scenario, 1, Operation::kRead);
    CHECK(scenario.has_only(Severity::kError));
    meet();
    access(scenario, 1, Operation::kWrite);
    CHECK(scenario.races().size() == 1);
    meet();
    copy_before(scenario);  // still under way, and logged again
    access(scenario, 1, Operation::kRead);
    CHECK(scenario.races().size() == 2);
    CHECK(scenario.detector.rejected() == 0);
  }
}

}  // namespace barracuda::detector::test
