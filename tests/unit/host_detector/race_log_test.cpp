#include "host_detector/state/race_log.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "device_logger/quiet_sites.h"
#include "host_detector/queue/quiet_tables.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector {
namespace {

RaceEvent race_of(wire::SiteId first, AccessSite second, Severity severity, std::uint64_t count) {
  RaceEvent race;
  race.severity = severity;
  race.first.site = first;
  race.second.site = second;
  race.count = count;
  return race;
}

// A log that tells who is frequent from 100 on.
struct Limited {
  Limited() {
    log.limit(100, [this](wire::SiteId site) { told.push_back(site); });
  }

  void count(const RaceEvent& race) {
    if (!log.count_again(race)) {
      log.add(race);
    }
  }

  RaceLog log;
  std::vector<wire::SiteId> told;
};

constexpr wire::SiteId kOne{3}, kOther{5};

}  // namespace

TEST_CASE("the sites of a race that was counted often enough are told once") {
  Limited limited;
  limited.count(race_of(kOne, kOther, Severity::kError, 99));
  CHECK(limited.told.empty());
  CHECK_FALSE(limited.log.findings().races[0].is_frequent);
  limited.count(race_of(kOne, kOther, Severity::kError, 1));
  CHECK(limited.told == std::vector{kOne, kOther});
  limited.count(race_of(kOther, kOne, Severity::kError, 1000));
  CHECK(limited.told.size() == 2);
  CHECK(limited.log.findings().races[0].is_frequent);
  CHECK(limited.log.findings_so_far().races[0].count == 1100);
}

TEST_CASE("a race with a copy is elsewhere as well wherever it was met within the copy") {
  const bool is_copy_first = GENERATE(true, false);
  RaceLog log;
  for (const std::uint64_t address : {0x1000, 0x1080}) {
    RaceEvent race;
    (is_copy_first ? race.first : race.second).address = 0x1000;
    (is_copy_first ? race.second : race.first).address = address;
    if (!log.count_again(race)) {
      log.add(race);
    }
  }
  REQUIRE(log.findings().races.size() == 1);
  CHECK(log.findings().races[0].is_elsewhere);
}

TEST_CASE("a race is elsewhere as well once it was met at another address, or at several at once") {
  Limited limited;
  const auto is_elsewhere = [&] { return limited.log.findings_so_far().races.at(0).is_elsewhere; };
  RaceEvent race = race_of(kOne, kOther, Severity::kError, 1);
  race.first.address = 0x100;
  limited.count(race);
  limited.count(race);
  CHECK_FALSE(is_elsewhere());
  race.first.address = 0x104;
  limited.count(race);
  CHECK(is_elsewhere());
  Limited at_once;
  at_once.count(race_of(kOne, kOther, Severity::kWarning, 2));
  CHECK(at_once.log.findings().races.at(0).is_elsewhere);
}

TEST_CASE("a race that is frequent when it is found is told as well, and each by itself") {
  Limited limited;
  limited.count(race_of(kOne, kOther, Severity::kError, 60));
  limited.count(race_of(kOne, kOne, Severity::kError, 60));
  CHECK(limited.told.empty());
  limited.count(race_of(kOther, kOther, Severity::kError, 100));
  CHECK(limited.told == std::vector{kOther, kOther});
}

TEST_CASE("a warning is watched for longer, for it may become an error") {
  Limited limited;
  limited.count(race_of(kOne, kOther, Severity::kWarning, 999));
  CHECK(limited.told.empty());
  SECTION("it stays one") {
    limited.count(race_of(kOne, kOther, Severity::kWarning, 1));
    CHECK(limited.told.size() == 2);
  }
  SECTION("it becomes one") {
    limited.count(race_of(kOne, kOther, Severity::kError, 1));
    CHECK(limited.told.size() == 2);
    CHECK(limited.log.findings().races[0].severity == Severity::kError);
  }
}

TEST_CASE("what is no instruction is not told") {
  Limited limited;
  limited.count(race_of(kOne, AccessSite(CallId{7}), Severity::kError, 100));
  CHECK(limited.told == std::vector{kOne});
}

TEST_CASE("without a limit nobody is told") {
  Limited limited;
  limited.log.limit(0, {});
  limited.count(race_of(kOne, kOther, Severity::kError, 1'000'000));
  CHECK_FALSE(limited.log.findings().races[0].is_frequent);
}

TEST_CASE("a site becomes quiet in all tables that there are and will be, and in none that went") {
  using Table = std::array<std::uint32_t, wire::kQuietWords>;
  Table first{}, second{}, gone{};
  const auto bytes_of = [](Table& table) { return reinterpret_cast<std::byte*>(table.data()); };
  const auto is_quiet = [](const Table& table, wire::SiteId site) {
    return wire::has_quiet_bit([&](std::uint32_t i) { return table[i]; },
                               static_cast<std::uint32_t>(site));
  };
  QuietTables tables;
  tables.add(nullptr);
  tables.add(bytes_of(first));
  tables.add(bytes_of(gone));
  tables.remove(bytes_of(gone));
  tables.make_quiet(kOne);
  tables.make_quiet(wire::SiteId{wire::kQuietSites});  // has no place: stays as it is
  tables.add(bytes_of(second));
  for (const Table& table : {first, second}) {
    CHECK(is_quiet(table, kOne));
    CHECK_FALSE(is_quiet(table, wire::SiteId{static_cast<std::uint32_t>(kOne) + 32}));
    CHECK_FALSE(is_quiet(table, kOther));
    CHECK_FALSE(is_quiet(table, wire::SiteId{wire::kQuietSites}));
  }
  CHECK(gone == Table{});
}

TEST_CASE(
    "of what was logged before a site became quiet its accesses are dropped, and nothing else") {
  const auto add = [](RecordBatch& batch, wire::RecordKind kind, wire::SiteId site,
                      std::uint32_t slots) {
    wire::HeaderHalf header{};
    header.site = static_cast<std::uint32_t>(site) & (wire::kMaxSites - 1);
    header.kind = static_cast<std::uint32_t>(kind) & ((1U << wire::kKindBits) - 1);
    header.mask = static_cast<std::uint32_t>(batch.slots.size());
    const std::size_t at = batch.bytes.size();
    batch.bytes.resize(at + slots * wire::kSlotBytes);
    std::memcpy(batch.bytes.data() + at, &header, sizeof header);
    batch.slots.push_back(slots);
  };
  using Kind = wire::RecordKind;
  RecordBatch batch;
  add(batch, Kind::kAffine, kOne, 1);
  add(batch, Kind::kRelease, kOne, 3);
  add(batch, Kind::kScattered, kOther, 17);
  for (const Kind kind : {Kind::kAffineValue, Kind::kScattered, Kind::kEarlier, Kind::kSettled}) {
    add(batch, kind, kOne, 2);
  }
  add(batch, Kind::kEvent, kOne, 1);
  QuietTables tables;
  tables.drop_from(batch);
  CHECK(batch.slots.size() == 8);
  tables.make_quiet(kOne);
  tables.drop_from(batch);
  REQUIRE(batch.is_valid());
  std::vector<std::uint32_t> left;
  batch.for_each([&](std::span<const std::byte> record) {
    wire::HeaderHalf header;
    std::memcpy(&header, record.data(), sizeof header);
    left.push_back(header.mask);
  });
  CHECK(left == std::vector<std::uint32_t>{1, 2, 7});
}

TEST_CASE("where a variable lies is kept once, and is no finding") {
  const auto told = [](std::uint32_t number, std::uint32_t address) {
    WarpOperation operation;
    operation.site = kOne;
    operation.event_count = number;
    operation.event_operand = address;
    return operation;
  };
  RaceLog log;
  const std::vector<SharedPlace> places{{kOne, 0, 1024}, {kOne, 1, 1024}, {kOne, 0, 2048}};
  for (const std::size_t i : {0, 0, 1, 2, 1}) {
    log.add_place(told(places[i].number, places[i].address));
  }
  CHECK(log.changes() == 0);
  CHECK(log.findings().shared_places == places);
  CHECK(log.findings_so_far().shared_places == places);

  Limited limited;
  limited.log.add_place(told(1, 1024));
  CHECK(limited.told.empty());
  limited.log.add_place(told(0, 1024));  // the last
  limited.log.add_place(told(0, 1024));
  CHECK(limited.told == std::vector{kOne});
}

}  // namespace barracuda::detector
