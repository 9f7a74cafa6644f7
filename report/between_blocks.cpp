#include "report/between_blocks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "base/strong_id.h"

namespace barracuda::report {
namespace {

using detector::RaceEvent;
using detector::RaceKind;

// A source line; where that is not known, the instruction.
using Place = std::tuple<std::string, std::string, std::uint32_t>;

Place place_of(detector::AccessSite at, const ptx::SiteTable& sites) {
  if (at.is_call() || index_of(at.instruction()) >= sites.size()) {
    return {"", "", at.packed()};
  }
  const ptx::Site& site = sites[index_of(at.instruction())];
  return site.frames.empty() || site.frames.front().line == 0
             ? Place{site.function, "", at.packed()}
             : Place{site.function, site.frames.front().file, site.frames.front().line};
}

std::pair<Place, Place> places_of(const RaceEvent& race, const ptx::SiteTable& sites) {
  return std::minmax({place_of(race.first.site, sites), place_of(race.second.site, sites)});
}

bool is_as_bad(const RaceEvent& race, const RaceEvent& as) {
  return race.severity == as.severity || race.severity == detector::Severity::kError;
}

bool is_unordered(const RaceEvent& race) {
  return race.missing == detector::MissingOrder::kNoSynchronisation &&
         race.second.space == wire::AddressSpace::kGlobal;
}

// Blocks of a cluster have a barrier.
bool is_between_blocks(const RaceEvent& race) {
  return is_unordered(race) && race.kind == RaceKind::kInterBlock &&
         race.needed_scope != wire::Scope::kCluster;
}

bool is_within_a_block(const RaceEvent& race) {
  return is_unordered(race) &&
         (race.kind == RaceKind::kIntraBlock || race.kind == RaceKind::kIntraWarp);
}

}  // namespace

std::vector<RaceEvent> with_blocks_first(const std::vector<RaceEvent>& races,
                                         const ptx::SiteTable& sites) {
  std::vector<RaceEvent> all = races;
  std::vector<bool> is_counted_elsewhere(races.size());
  for (std::size_t index = 0; index < races.size(); ++index) {
    if (!is_within_a_block(races[index])) {
      continue;
    }
    const auto same = std::ranges::find_if(all, [&](const RaceEvent& other) {
      return is_between_blocks(other) && is_as_bad(other, races[index]) &&
             places_of(other, sites) == places_of(races[index], sites);
    });
    if (same != all.end()) {
      same->count += races[index].count;
      is_counted_elsewhere[index] = true;
    }
  }
  std::vector<RaceEvent> kept;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (!is_counted_elsewhere[index]) {
      kept.push_back(std::move(all[index]));
    }
  }
  return kept;
}

}  // namespace barracuda::report
