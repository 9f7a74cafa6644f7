// What is kept of a thread that reads again what a shared set reads: all that the later read does
// not stand for.
#include <algorithm>

#include <catch2/catch.hpp>

#include "host_detector/shadow/access_history.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr std::uint32_t kReaders =
    AccessHistory::kGatherAt + 4;  // more than a word keeps one by one
constexpr Who kWriter{.cta = kReaders + 1};

// The readers, and room for the writer. Block 0 is the one that comes again.
void read_by_many(Scenario& scenario) {
  scenario.launch(kReaders + 2, 32);
  for (std::uint32_t reader = 1; reader <= kReaders; ++reader) {
    scenario.read({.cta = reader}, kData);
  }
}

// What these lanes of block 0 did before is before what the writer does from now on.
void hand_over(Scenario& scenario, std::uint32_t lanes) {
  scenario.store({.mask = lanes}, word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu),
                 kFlag, 1);
  scenario.load(kWriter, word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu), kFlag, 1);
}

bool races_with(const Scenario& scenario, SiteId site) {
  return std::ranges::any_of(scenario.races(),
                             [&](const RaceEvent& race) { return race.first.site == site; });
}

}  // namespace

TEST_CASE("one lane that reads again stands for itself, not for its warp") {
  Scenario scenario;
  read_by_many(scenario);
  const SiteId all = scenario.read({.mask = kAll}, kData);
  const SiteId again = scenario.read({.mask = 1}, kData);
  hand_over(scenario, 1);
  scenario.write(kWriter, kData);
  CHECK(races_with(scenario, all));
  CHECK_FALSE(races_with(scenario, again));
}

TEST_CASE("another lane that reads the same bytes stands for nobody") {
  Scenario scenario;
  read_by_many(scenario);
  const SiteId row = scenario.read({.mask = 0xFF}, kData, 4);
  const SiteId other = scenario.read({.mask = 1 << 5}, kData);
  hand_over(scenario, 1 << 5);
  scenario.write(kWriter, kData);
  CHECK(races_with(scenario, row));
  CHECK_FALSE(races_with(scenario, other));
}

TEST_CASE("a read that excuses more stands for no plain one of the same lane") {
  Scenario scenario;
  read_by_many(scenario);
  const SiteId plain = scenario.read({.mask = 1}, kData);
  const SiteId relaxed = scenario.access(
      {.mask = 1}, word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu), kData);
  scenario.access(kWriter, word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kGpu), kData);
  CHECK(races_with(scenario, plain));
  CHECK_FALSE(races_with(scenario, relaxed));
}

}  // namespace barracuda::detector::test
