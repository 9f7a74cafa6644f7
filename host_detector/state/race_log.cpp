#include "host_detector/state/race_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strong_id.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector {

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// Where the two accesses meet. A host's copy begins where it begins, whichever of its bytes races.
std::uint64_t place_of(const RaceEvent& race) {
  return std::max(race.first.address, race.second.address);
}

}  // namespace

// The races that a thread met last, so that it counts them without a lock.
struct RaceLog::Recent {
  static constexpr std::size_t kCount = 64;

  struct Found {
    Identity identity;
    Known* known = nullptr;
  };

  std::uint64_t number = 0;  // of their log
  std::array<Found, kCount> found{};
};

// One report of several times is of as many places. Most races have more than one: then no more is
// written here, by threads that would wait for each other.
void RaceLog::Known::note(std::uint64_t at, std::uint64_t times) {
  if ((times > 1 || at != address.load(std::memory_order_relaxed)) &&
      !is_elsewhere.load(std::memory_order_relaxed)) {
    is_elsewhere.store(true, std::memory_order_relaxed);
  }
}

void RaceLog::Known::add_to(RaceEvent& race) const {
  race.count = count.load(std::memory_order_relaxed);
  race.is_elsewhere = is_elsewhere.load(std::memory_order_relaxed);
  race.is_frequent = is_told.load(std::memory_order_relaxed);
}

RaceLog::RaceLog() : number_(next_number()) {}

RaceLog::Identity RaceLog::Identity::of(std::uint32_t site, std::uint32_t other, RaceKind kind,
                                        wire::AddressSpace space) {
  const auto [low, high] = std::minmax(site, other);
  return {.low_site = low, .high_site = high, .kind = kind, .space = space};
}

RaceLog::Identity RaceLog::Identity::of(const RaceEvent& race) {
  return of(race.first.site.packed(), race.second.site.packed(), race.kind, race.second.space);
}

RaceLog::Known* RaceLog::find(const Identity& identity) {
  static thread_local Recent recent;
  if (recent.number != number_) {
    recent = Recent{.number = number_};
  }
  Recent::Found& found = recent.found[hash_value(identity) % Recent::kCount];
  if (found.known == nullptr || found.identity != identity) {
    const std::lock_guard lock(mutex_);
    const auto known = races_.find(identity);
    if (known == races_.end()) {
      return nullptr;
    }
    found = {.identity = identity, .known = &known_[known->second]};
  }
  return found.known;
}

bool RaceLog::count_again(const Identity& identity, Severity severity, std::uint64_t address,
                          std::uint64_t count) {
  Known* known = find(identity);
  if (known == nullptr || (severity == Severity::kError &&
                           known->severity.load(std::memory_order_relaxed) != severity)) {
    return false;
  }
  const std::uint64_t before = known->count.fetch_add(count, std::memory_order_relaxed);
  known->note(address, count);
  tell_if_frequent(*known, identity, before + count);
  return true;
}

bool RaceLog::count_again(const RaceEvent& race) {
  return count_again(Identity::of(race), race.severity, place_of(race), race.count);
}

void RaceLog::add(RaceEvent race) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = races_.try_emplace(Identity::of(race), findings_.races.size());
  Known& known = is_new ? known_.emplace_back() : known_[place->second];
  const std::uint64_t before = known.count.fetch_add(race.count, std::memory_order_relaxed);
  if (is_new) {
    known.address = place_of(race);
  }
  known.note(place_of(race), race.count);
  const bool was_warning = known.severity == Severity::kWarning;  // or is new
  if (was_warning) {
    known.severity = race.severity;
  }
  tell_if_frequent(known, place->first, before + race.count);
  if (is_new) {
    findings_.races.push_back(std::move(race));
    changes_.fetch_add(1, std::memory_order_relaxed);
  } else if (was_warning) {
    findings_.races[place->second] = std::move(race);
    changes_.fetch_add(1, std::memory_order_relaxed);
  }
}

void RaceLog::limit(std::uint64_t most, Tell on_enough) {
  limit_ = most;
  on_enough_ = std::move(on_enough);
}

void RaceLog::tell_if_frequent(Known& known, const Identity& identity, std::uint64_t count) const {
  if (limit_ == 0) {
    return;
  }
  const bool is_error = known.severity.load(std::memory_order_relaxed) == Severity::kError;
  const std::uint64_t most = is_error ? limit_ : limit_ * kWarningsMore;
  if (count < most || known.is_told.load(std::memory_order_relaxed) ||
      known.is_told.exchange(true)) {
    return;
  }
  for (const std::uint32_t packed : {identity.low_site, identity.high_site}) {
    const AccessSite site = AccessSite::unpacked(packed);
    if (!site.is_call()) {
      choose_(site.instruction(), on_enough_);
    }
  }
}

const Findings& RaceLog::findings() const {
  const std::lock_guard lock(mutex_);
  for (std::size_t index = 0; index < known_.size(); ++index) {
    known_[index].add_to(findings_.races[index]);
  }
  return findings_;
}

Findings RaceLog::findings_so_far() const {
  const std::lock_guard lock(mutex_);
  Findings copy = findings_;
  for (std::size_t index = 0; index < known_.size(); ++index) {
    known_[index].add_to(copy.races[index]);
  }
  return copy;
}

void RaceLog::add_unknown_map(wire::SiteId site) {
  const std::lock_guard lock(mutex_);
  auto& maps = findings_.unknown_maps;
  const auto found = std::ranges::find(maps, site, &UnknownMap::site);
  if (found == maps.end()) {
    maps.push_back({.site = site, .count = 1});
  } else {
    ++found->count;
  }
}

void RaceLog::add_place(const WarpOperation& operation) {
  const SharedPlace place{
      .site = operation.site, .number = operation.event_count, .address = operation.event_operand};
  const std::lock_guard lock(mutex_);
  auto& places = findings_.shared_places;
  if (std::ranges::find(places, place) != places.end()) {
    return;
  }
  places.push_back(place);
  if (place.number == 0 && on_enough_ != nullptr) {
    on_enough_(place.site);
  }
}

void RaceLog::add(BarrierDivergence divergence) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t identity = (std::uint64_t{divergence.arrived.site.packed()} << 32) |
                                 (divergence.barrier << 1) |
                                 (divergence.severity == Severity::kWarning ? 1U : 0U);
  const auto [known, is_new] = divergences_.try_emplace(identity, findings_.divergences.size());
  if (is_new) {
    findings_.divergences.push_back(std::move(divergence));
    changes_.fetch_add(1, std::memory_order_relaxed);
  } else {
    ++findings_.divergences[known->second].count;
  }
}

}  // namespace barracuda::detector
