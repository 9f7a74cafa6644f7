// Stores of equal values (RACE_RULES section 2): what is excused, what is warned of, and what is
// not known to be equal.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kFirst{.cta = 0};
constexpr Who kSecond{.cta = 1};

// A store of lane 0, of a value that is known.
void store_known(Scenario& scenario, const Who& who, std::uint64_t value, std::uint8_t bytes = 4,
                 std::uint8_t count = 1, std::uint64_t address = kData) {
  SiteInfo site = word(Operation::kWrite);
  site.element_bytes = bytes;
  site.element_count = count;
  WarpOperation operation = scenario.start(who, site, RecordKind::kScattered);
  operation.has_uniform_value = true;
  operation.uniform_value = value;
  operation.lanes[0].address = address;
  scenario.detector.apply(operation);
}

}  // namespace

TEST_CASE(
    "lanes that store the same value to one place are excused, and reported where asked for") {
  for (const bool agree : {true, false}) {
    for (const bool report : {true, false}) {
      Scenario scenario({.report_same_value = report});
      scenario.launch(1, 32);
      WarpOperation operation =
          scenario.start({.mask = 3}, word(Operation::kWrite), RecordKind::kAffine);
      operation.lanes_agree = agree;
      operation.lanes[0].address = operation.lanes[1].address = kData;
      scenario.detector.apply(operation);
      CHECK(scenario.races().size() == (!agree || report ? 1 : 0));
      CHECK((scenario.races().empty() ||
             scenario.races()[0].severity == (agree ? Severity::kWarning : Severity::kError)));
    }
  }
}

TEST_CASE("stores of one constant are warned of, and of two constants are errors") {
  for (const std::uint64_t constant : {std::uint64_t{1}, std::uint64_t{2}}) {
    SiteInfo one = word(Operation::kWrite);
    one.stores_constant = true;
    one.constant = 1;
    SiteInfo other = one;
    other.constant = constant;
    Scenario scenario(2, 1);
    scenario.access(kFirst, one, kData);
    scenario.access(kSecond, other, kData);
    CHECK(scenario.has_only(constant == 1 ? Severity::kWarning : Severity::kError));
  }
}

TEST_CASE("stores known to have written one value are warned of at any distance and of any size") {
  struct Case {
    Who second;
    std::uint64_t constant;
    std::uint8_t bytes;
    Severity severity;
  };

  const SiteInfo counted = word(Operation::kWrite);
  for (const Case& each :
       {Case{{.mask = 2}, 7, 4, Severity::kWarning}, Case{{.warp = 1}, 7, 4, Severity::kWarning},
        Case{{.cta = 1}, 7, 4, Severity::kWarning}, Case{{.cta = 1}, 8, 4, Severity::kError},
        Case{{.cta = 1}, 7, 8, Severity::kError}}) {
    Scenario scenario(2, 64);
    WarpOperation operation = scenario.start({.mask = 1}, counted, RecordKind::kAffine);
    operation.has_uniform_value = true;
    operation.uniform_value = 7;
    operation.lanes[0].address = kData;
    scenario.detector.apply(operation);
    SiteInfo constant = word(Operation::kWrite);
    constant.element_bytes = each.bytes;
    constant.stores_constant = true;
    constant.constant = each.constant;
    scenario.access(each.second, constant, kData);
    REQUIRE(scenario.has_only(each.severity));
    CHECK((scenario.races()[0].missing == MissingOrder::kEqualValues) ==
          (each.severity == Severity::kWarning));
  }
}

TEST_CASE("warps that store what a compiler has replicated do no harm") {
  for (const std::uint64_t second : {std::uint64_t{7}, std::uint64_t{8}}) {
    for (const bool report : {true, false}) {
      SiteInfo site = word(Operation::kWrite);
      site.is_replicated = true;
      Scenario scenario({.report_same_value = report});
      scenario.launch(1, 64);
      WarpOperation operation = scenario.start({.mask = 1}, site, RecordKind::kAffine);
      operation.has_uniform_value = true;
      operation.uniform_value = 7;
      operation.lanes[0].address = kData;
      scenario.detector.apply(operation);
      operation.warp = 1;
      operation.uniform_value = second;
      scenario.detector.apply(operation);
      CHECK(scenario.races().size() == (second != 7 || report ? 1 : 0));
      CHECK(
          (scenario.races().empty() ||
           scenario.races()[0].severity == (second == 7 ? Severity::kWarning : Severity::kError)));
    }
  }
}

TEST_CASE("of stores of one known value each, launch after launch, a few are kept") {
  constexpr std::uint32_t kLaunches = 4000;
  for (const std::uint64_t last_value : {std::uint64_t{kLaunches}, std::uint64_t{1}}) {
    Scenario scenario;
    LaunchId last = scenario.launch(1, 1);
    for (std::uint64_t value = 1; value <= kLaunches; ++value) {
      store_known(scenario, {.launch = last}, value);
      scenario.exit({.launch = last});
      last = scenario.launch(1, 1, {last});
    }
    // Every site that is kept is a race of its own with one that nothing orders.
    const LaunchId beside = scenario.launch(1, 1);
    store_known(scenario, {.launch = beside}, last_value);
    CHECK(scenario.races().size() >= 1);
    CHECK(scenario.races().size() <= 4);
    // What the newest store wrote was not there before it.
    CHECK(std::ranges::count(scenario.races(), Severity::kWarning, &RaceEvent::severity) ==
          (last_value == kLaunches ? 1 : 0));
    CHECK(std::ranges::count(scenario.races(), Severity::kError, &RaceEvent::severity) >= 1);
  }
}

TEST_CASE("two stores of different known values stand for a read, and one does not") {
  for (const std::uint64_t stores : {1U, 2U}) {
    Scenario scenario;
    const LaunchId first = scenario.launch(1, 1);
    scenario.read({.launch = first}, kData);
    scenario.exit({.launch = first});
    LaunchId last = first;
    for (std::uint64_t value = 1; value <= stores; ++value) {
      last = scenario.launch(1, 1, {last});
      store_known(scenario, {.launch = last}, value);
      scenario.exit({.launch = last});
    }
    store_known(scenario, {.launch = scenario.launch(1, 1)}, stores);
    REQUIRE(scenario.races().size() == 2);
    CHECK((scenario.races()[0].first.thread.launch == first) == (stores == 1));
    CHECK(std::ranges::count(scenario.races(), Severity::kError, &RaceEvent::severity) == 1);
  }
}

TEST_CASE("two stores of one known value do not stand for what one of them does not") {
  Scenario scenario;
  const LaunchId first = scenario.launch(1, 1);
  const SiteId read = scenario.read({.launch = first}, kData);
  scenario.exit({.launch = first});
  LaunchId last = first;
  for (int i = 0; i < 2; ++i) {
    last = scenario.launch(1, 1, {last});
    store_known(scenario, {.launch = last}, 1);
    scenario.exit({.launch = last});
  }
  store_known(scenario, {.launch = scenario.launch(1, 1)}, 1);
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[0].first.site == read);
  CHECK(scenario.races()[0].severity == Severity::kError);
  CHECK(scenario.races()[1].severity == Severity::kWarning);
}

TEST_CASE("stores of known values to different bytes do not stand together for one of both") {
  Scenario scenario;
  const LaunchId first = scenario.launch(1, 1);
  SiteInfo wide = word(Operation::kWrite);
  wide.element_bytes = 8;
  const SiteId both = scenario.access({.launch = first}, wide, kData);
  store_known(scenario, {.launch = first}, 1);
  store_known(scenario, {.launch = first}, 2, 4, 1, kData + 4);
  store_known(scenario, {.launch = scenario.launch(1, 1)}, 2, 4, 1, kData + 4);
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[0].first.site == both);
  CHECK(scenario.races()[0].severity == Severity::kError);
}

TEST_CASE(
    "an access that a store of a known value came after is not one with a later one of its site") {
  Scenario scenario;
  const LaunchId first = scenario.launch(1, 1);
  WarpOperation again =
      scenario.start({.launch = first}, word(Operation::kWrite), RecordKind::kAffine);
  again.lanes[0].address = kData;
  scenario.detector.apply(again);
  store_known(scenario, {.launch = first}, 1);
  again.lanes[0].address = kData + 4;
  scenario.detector.apply(again);
  store_known(scenario, {.launch = first}, 2, 4, 1, kData + 4);
  store_known(scenario, {.launch = scenario.launch(1, 1)}, 2, 4, 1, kData + 4);
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[0].first.site == again.site);
  CHECK(scenario.races()[0].severity == Severity::kError);
}

TEST_CASE("values of eight bytes and of vectors are compared with those of their like") {
  struct Case {
    std::uint64_t value;
    std::uint8_t bytes, count;
    Severity severity;
  };

  constexpr std::uint64_t kValue = 0x700000001;
  for (const Case& each : {Case{kValue, 8, 1, Severity::kWarning}, Case{1, 8, 1, Severity::kError},
                           Case{kValue, 4, 2, Severity::kError}}) {
    Scenario scenario(2, 1);
    store_known(scenario, kFirst, kValue, 8);
    store_known(scenario, kSecond, each.value, each.bytes, each.count);
    CHECK(scenario.has_only(each.severity));
  }
  Scenario scenario(2, 1);
  store_known(scenario, kFirst, kValue, 4, 4);
  store_known(scenario, kSecond, kValue, 4, 4);
  CHECK(scenario.has_only(Severity::kWarning));
}

TEST_CASE("the value of a vector is not that of its elements") {
  SiteInfo pair = word(Operation::kWrite);
  pair.element_bytes = 2;
  pair.element_count = 2;
  SiteInfo half = word(Operation::kWrite);
  half.element_bytes = 2;
  half.stores_constant = true;
  half.constant = 1;
  Scenario scenario(2, 1);
  WarpOperation operation = scenario.start(kFirst, pair, RecordKind::kAffine);
  operation.has_uniform_value = true;
  operation.uniform_value = 1;  // the second element is 0
  operation.lanes[0].address = kData;
  scenario.detector.apply(operation);
  scenario.access(kSecond, half, kData + 2);
  CHECK(scenario.has_only(Severity::kError));
}

}  // namespace barracuda::detector::test
