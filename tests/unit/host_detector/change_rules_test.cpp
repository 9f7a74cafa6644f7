// Polls that wait for a change (RACE_RULES section 1).
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kWriter{.cta = 0}, kPoller{.cta = 1};
const SiteInfo kArrive = word(Operation::kAtomic, MemoryOrder::kRelease, Scope::kGpu);

// For a change of the second bit.
SiteInfo poll(bool waits_for_change) {
  SiteInfo site = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);
  site.waits_for_change = waits_for_change;
  site.constant = 2;
  return site;
}

}  // namespace

TEST_CASE("a poll for a change takes what the first value with the change had") {
  for (const bool waits_for_change : {false, true}) {
    Scenario scenario(2, 1);
    scenario.write(kWriter, kData);
    scenario.atomic(kWriter, kArrive, kFlag, 1, 2);
    scenario.write(kWriter, kData + 8);
    scenario.atomic(kWriter, kArrive, kFlag, 2, 3);
    scenario.load(kPoller, poll(waits_for_change), kFlag, 3);
    scenario.read(kPoller, kData);
    scenario.read(kPoller, kData + 8);
    REQUIRE(scenario.races().size() == (waits_for_change ? 1 : 0));
    CHECK((!waits_for_change || scenario.races()[0].second.address == kData + 8));
  }
}

TEST_CASE("a store among the values that a poll for a change could have read takes nothing back") {
  Scenario scenario(2, 1);
  scenario.store(kWriter, word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu), kFlag, 2);
  scenario.write(kWriter, kData);
  scenario.atomic(kWriter, kArrive, kFlag, 2, 3);
  scenario.load(kPoller, poll(true), kFlag, 3);
  scenario.read(kPoller, kData);
  CHECK(scenario.is_clean());
}

// The value that an atomic wrote was forgotten, the one that it read was not, and both come again.
TEST_CASE("a value that comes again takes what those before it have, though it was forgotten") {
  const SiteInfo release = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu),
                 acquire = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);
  constexpr Who kFirst{.cta = 2}, kSecond{.cta = 3};
  Scenario scenario(4, 1);
  scenario.store(kSecond, release, kFlag, 2);
  for (std::uint64_t value = 1000; value < 1400; ++value) {
    scenario.store(kSecond, release, kFlag, value);
  }
  scenario.atomic(kSecond, kArrive, kFlag, 1, 2);
  for (std::uint64_t value = 1400; value < 1530; ++value) {  // more than are kept
    scenario.store(kSecond, release, kFlag, value);
  }
  scenario.write(kFirst, kData);
  scenario.store(kFirst, release, kFlag, 1);
  scenario.atomic(kWriter, kArrive, kFlag, 1, 2);
  scenario.load(kPoller, acquire, kFlag, 2);
  scenario.read(kPoller, kData);
  CHECK(scenario.is_clean());
}

}  // namespace barracuda::detector::test
