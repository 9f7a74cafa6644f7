// Races of what synchronises: it may be logged no more where it orders no block behind another, and
// then nothing is reported that it might have ordered.
#include <algorithm>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr std::uint16_t kNarrow = 7, kOtherNarrow = 8;

SiteInfo of_kernel(std::uint16_t narrow_kernel, SiteInfo site) {
  site.narrow_kernel = narrow_kernel;
  return site;
}

SiteInfo flag(Operation operation, std::uint16_t narrow_kernel) {
  SiteInfo site = of_kernel(narrow_kernel, word(operation, MemoryOrder::kVolatile));
  site.numbered = true;
  return site;
}

// Two blocks of two warps. Those that a test is not about race until it is enough.
struct Flags {
  static constexpr std::uint64_t kLimit = 10;

  explicit Flags(std::uint16_t narrow_kernel)
      : store(flag(Operation::kWrite, narrow_kernel)), load(flag(Operation::kRead, narrow_kernel)) {
    scenario.detector.limit_races(kLimit, [this](SiteId site) { told.push_back(site); });
  }

  void race(std::uint64_t times) {
    WarpOperation stored = scenario.start({.cta = 0}, store, RecordKind::kRelease);
    WarpOperation loaded = scenario.start({.cta = 1}, load, RecordKind::kAcquire);
    for (std::uint64_t i = 0; i < times; ++i) {
      stored.lanes[0] = {
          .address = kFlag + 4 * i, .value_written = 1, .flags = wire::kLaneHasWritten};
      loaded.lanes[0] = {.address = kFlag + 4 * i, .value_read = 1, .flags = wire::kLaneHasRead};
      scenario.detector.apply(stored);
      scenario.detector.apply(loaded);
    }
    sites = {stored.site, loaded.site};
  }

  void access(const Who& who, Operation operation, std::uint16_t narrow_kernel = kNarrow) {
    scenario.access(who, of_kernel(narrow_kernel, word(operation)), kData);
  }

  [[nodiscard]] std::size_t count() const { return scenario.races().size(); }

  SiteInfo store, load;
  Scenario scenario{2, 64};
  std::vector<SiteId> told, sites;
};

constexpr std::uint64_t kEnough = Flags::kLimit * RaceLog::kWarningsMore;

}  // namespace

TEST_CASE("what synchronises falls silent only where it orders no other block") {
  for (const std::uint16_t kernel : {std::uint16_t{0}, kNarrow}) {
    Flags flags(kernel);
    flags.race(kEnough);
    CHECK(flags.scenario.has_only(Severity::kWarning));
    CHECK(flags.told.empty() == (kernel == 0));
    CHECK((kernel == 0 || std::ranges::is_permutation(
                              std::set(flags.told.begin(), flags.told.end()), flags.sites)));
  }
}

TEST_CASE("an atomic does not fall silent: others may wait for what it does") {
  Flags flags(kNarrow);
  flags.store.operation = Operation::kAtomic;
  flags.store.scope = Scope::kCta;  // too narrow: an error
  flags.race(kEnough);
  CHECK(flags.scenario.has_only(Severity::kError));
  CHECK(flags.told == std::vector{flags.sites[1]});  // of the load
}

TEST_CASE(
    "with what races the fences of its kernel fall silent, and what else synchronises there") {
  Flags flags(kNarrow);
  const auto add = [&](const SiteInfo& site) { return flags.scenario.start({}, site, {}).site; };
  const SiteInfo fence{
      .operation = Operation::kFence, .order = MemoryOrder::kAcqRel, .scope = Scope::kCta};
  SiteInfo atomic = flag(Operation::kAtomic, kNarrow);
  add(of_kernel(kOtherNarrow, fence));
  const SiteId first = add(of_kernel(kNarrow, fence));
  add(of_kernel(kNarrow, word(Operation::kWrite)));
  add(atomic);
  flags.race(kEnough);
  CHECK(flags.told.size() == 6);  // for each of the two that race
  CHECK(std::ranges::count(flags.told, first) == 2);
  CHECK(std::ranges::count(flags.told, flags.sites[0]) == 2);
  CHECK(std::ranges::count(flags.told, flags.sites[1]) == 2);
}

TEST_CASE("of a silent kernel, races of one block are not reported") {
  for (const std::uint64_t times : {kEnough - 1, kEnough}) {
    Flags flags(kNarrow);
    flags.race(times);
    flags.access({.cta = 1, .warp = 0}, Operation::kWrite);
    flags.access({.cta = 1, .warp = 1}, Operation::kRead);
    CHECK(flags.count() == (times < kEnough ? 2 : 1));
  }
}

TEST_CASE("of a silent kernel, races of different blocks are reported") {
  Flags flags(kNarrow);
  flags.race(kEnough);
  flags.access({.cta = 0}, Operation::kWrite);
  flags.access({.cta = 1}, Operation::kRead);
  CHECK(flags.count() == 2);
}

TEST_CASE("of a silent kernel, nothing is reported of who may have seen a strong access") {
  // The value orders a thread behind the atomic in what it does to that word: it may reset it.
  for (const bool is_silent : {false, true}) {
    Flags flags(kNarrow);
    flags.race(is_silent ? kEnough : 1);
    SiteInfo counter = of_kernel(kNarrow, word(Operation::kAtomic, MemoryOrder::kRelaxed));
    counter.numbered = true;
    flags.scenario.atomic({.cta = 0}, counter, kData, 0, 1);
    flags.access({.cta = 1}, Operation::kWrite);
    CHECK(flags.count() == (is_silent ? 1 : 2));
  }
}

TEST_CASE("other kernels are checked as before where one is silent") {
  Flags flags(kNarrow);
  flags.race(kEnough);
  flags.access({.cta = 1, .warp = 0}, Operation::kWrite, kOtherNarrow);
  flags.access({.cta = 1, .warp = 1}, Operation::kRead, kOtherNarrow);
  CHECK(flags.count() == 2);
  flags.scenario.write({.cta = 0, .warp = 0}, shared(64));
  flags.scenario.write({.cta = 0, .warp = 1}, shared(64));
  CHECK(flags.count() == 3);
}

TEST_CASE("a silent kernel's launches race with each other as before") {
  Flags flags(kNarrow);
  flags.race(kEnough);
  const LaunchId beside = flags.scenario.launch(1, 32);
  flags.access({.cta = 0}, Operation::kWrite);
  flags.access({.launch = beside, .cta = 0}, Operation::kWrite);
  CHECK(flags.count() == 2);
}

}  // namespace barracuda::detector::test
