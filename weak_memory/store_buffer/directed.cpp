#include "weak_memory/store_buffer/directed.h"

#include <algorithm>

namespace barracuda::weak_memory {
namespace {

// Of the reads of a race: a loop that polls with them has to end.
constexpr double kStale = 0.75;

using report::AccessOperation;

// The user's own line, and the innermost one where that is another: what the device takes for the
// place of an instruction that comes from a header.
void add_places(std::vector<emulator::CodePlace>& places, const report::Access& access) {
  const auto add = [&places](const report::Frame& frame) {
    const emulator::CodePlace place{.file = frame.file, .line = frame.line};
    if (frame.line != 0 && std::ranges::find(places, place) == places.end()) {
      places.push_back(place);
    }
  };
  add(access.place);
  if (!access.inlined.empty()) {
    add(access.inlined.front());
  }
}

std::vector<emulator::CodePlace> places_of(const report::Finding& race, AccessOperation operation) {
  std::vector<emulator::CodePlace> places;
  for (const report::Access& access : race.accesses) {
    if (access.operation == operation && !access.is_by_host) {
      add_places(places, access);
    }
  }
  return places;
}

}  // namespace

bool can_direct(const report::Finding& race) {
  return race.type == report::FindingType::kRace &&
         std::ranges::none_of(race.accesses, &report::Access::is_by_host) &&
         (!places_of(race, AccessOperation::kWrite).empty() ||
          !places_of(race, AccessOperation::kRead).empty());
}

std::vector<Settings> directed_runs(const report::Finding& race, const DirectedTries& tries) {
  Weakness late_write;
  late_write.stores = 1;
  late_write.places = places_of(race, AccessOperation::kWrite);
  Weakness stale_read;
  stale_read.stale_reads = kStale;
  stale_read.places = places_of(race, AccessOperation::kRead);
  std::vector<Weakness> kinds;
  if (!late_write.places.empty()) {
    kinds.push_back(std::move(late_write));
  }
  if (!stale_read.places.empty() && !tries.stores_only) {
    kinds.push_back(std::move(stale_read));
  }
  std::vector<Settings> runs;
  for (std::uint64_t i = 0; i < tries.count && !kinds.empty(); ++i) {
    runs.push_back({.seed = tries.first_seed + i,
                    .weakness = kinds[i % kinds.size()],
                    .fences = {},
                    .edits = {}});
  }
  return runs;
}

}  // namespace barracuda::weak_memory
