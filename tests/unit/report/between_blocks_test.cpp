#include "report/between_blocks.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

detector::RaceEvent race(detector::RaceKind kind, std::uint64_t count) {
  detector::RaceEvent event = samples::racy_run().findings.races.front();
  event.kind = kind;
  event.count = count;
  return event;
}

}  // namespace

TEST_CASE("a race of two lines between blocks is that within blocks as well") {
  const ptx::SiteTable sites = samples::racy_run().sites;
  std::vector<detector::RaceEvent> races = {race(detector::RaceKind::kIntraWarp, 1),
                                            race(detector::RaceKind::kInterBlock, 10),
                                            race(detector::RaceKind::kIntraBlock, 100)};
  std::swap(races[2].first.site, races[2].second.site);
  const auto kept = with_blocks_first(races, sites);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].kind == detector::RaceKind::kInterBlock);
  CHECK(kept[0].count == 111);
}

TEST_CASE(
    "races within a block stay where they are of other lines, worse, explained or of a cluster") {
  const ptx::SiteTable sites = samples::racy_run().sites;
  for (const int difference : {0, 1, 2, 3, 4}) {
    std::vector<detector::RaceEvent> races = {race(detector::RaceKind::kInterBlock, 10),
                                              race(detector::RaceKind::kIntraBlock, 1)};
    switch (difference) {
      case 0:
        races[1].first.site = races[1].second.site;
        break;
      case 1:
        races[0].severity = detector::Severity::kWarning;
        break;
      case 2:
        races[1].missing = detector::MissingOrder::kReleaseFenceMissing;
        break;
      case 3:
        races[0].needed_scope = wire::Scope::kCluster;
        break;
      default:
        races.erase(races.begin());
    }
    CHECK(with_blocks_first(races, sites).size() == races.size());
  }
}

}  // namespace barracuda::report
