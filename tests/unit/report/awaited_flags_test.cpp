#include "report/awaited_flags.h"

#include <cstdint>

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

using samples::site;

detector::RaceEvent race_of(std::uint32_t first, std::uint32_t second) {
  detector::RaceEvent race = samples::racy_run().findings.races.front();
  race.first.site = wire::SiteId{first};
  race.second.site = wire::SiteId{second};
  return race;
}

TEST_CASE("data before the store of a flag and behind the loop that waits for it are handed over") {
  // In the order of the PTX: the data and the flag are stored, the flag is awaited, the data read.
  ptx::SiteTable sites = {site(0, wire::Operation::kWrite, {}),
                          site(1, wire::Operation::kWrite, {}), site(2, wire::Operation::kRead, {}),
                          site(3, wire::Operation::kRead, {})};
  sites[1].info.order = sites[2].info.order = wire::MemoryOrder::kVolatile;
  const detector::RaceEvent data = race_of(0, 3);
  CHECK_FALSE(AwaitedFlags({data, race_of(1, 2)}, sites).between(data));  // no loop
  sites[2].loops = {1};
  CHECK(AwaitedFlags({data, race_of(1, 2)}, sites).between(data)->store == &sites[1]);
  CHECK(AwaitedFlags({data, race_of(2, 1)}, sites).between(data)->store == &sites[1]);
  CHECK(AwaitedFlags({data, race_of(2, 1)}, sites).between(data)->poll == &sites[2]);
  CHECK_FALSE(AwaitedFlags({data}, sites).between(data));
  const detector::RaceEvent other_way = race_of(3, 0);
  CHECK_FALSE(AwaitedFlags({other_way, race_of(1, 2)}, sites).between(other_way));
  sites[2].info.order = wire::MemoryOrder::kWeak;  // the compiler reads it once
  CHECK_FALSE(AwaitedFlags({data, race_of(1, 2)}, sites).between(data));
  sites[2].info.order = wire::MemoryOrder::kVolatile;
  sites[0].function = "_Z5otherPi";
  CHECK_FALSE(AwaitedFlags({data, race_of(1, 2)}, sites).between(data));
}

}  // namespace
}  // namespace barracuda::report
