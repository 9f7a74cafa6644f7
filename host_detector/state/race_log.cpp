#include "host_detector/state/race_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strong_id.h"

namespace barracuda::detector {

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
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

bool RaceLog::count_again(const Identity& identity, Severity severity, std::uint64_t count) {
  Known* known = find(identity);
  if (known == nullptr || (severity == Severity::kError &&
                           known->severity.load(std::memory_order_relaxed) != severity)) {
    return false;
  }
  known->count.fetch_add(count, std::memory_order_relaxed);
  return true;
}

bool RaceLog::count_again(const RaceEvent& race) {
  return count_again(Identity::of(race), race.severity, race.count);
}

void RaceLog::add(RaceEvent race) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = races_.try_emplace(Identity::of(race), findings_.races.size());
  Known& known = is_new ? known_.emplace_back() : known_[place->second];
  known.count.fetch_add(race.count, std::memory_order_relaxed);
  if (is_new) {
    known.severity = race.severity;
    findings_.races.push_back(std::move(race));
    changes_.fetch_add(1, std::memory_order_relaxed);
  } else if (known.severity == Severity::kWarning) {
    known.severity = race.severity;
    findings_.races[place->second] = std::move(race);
    changes_.fetch_add(1, std::memory_order_relaxed);
  }
}

const Findings& RaceLog::findings() const {
  const std::lock_guard lock(mutex_);
  for (std::size_t index = 0; index < known_.size(); ++index) {
    findings_.races[index].count = known_[index].count.load(std::memory_order_relaxed);
  }
  return findings_;
}

Findings RaceLog::findings_so_far() const {
  const std::lock_guard lock(mutex_);
  Findings copy = findings_;
  for (std::size_t index = 0; index < known_.size(); ++index) {
    copy.races[index].count = known_[index].count.load(std::memory_order_relaxed);
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
