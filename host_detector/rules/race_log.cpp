#include "host_detector/rules/race_log.h"

#include <algorithm>
#include <utility>

#include "base/strong_id.h"

namespace barracuda::detector {

RaceLog::Identity RaceLog::identity_of(const RaceEvent& race) {
  const auto [low, high] = std::minmax({index_of(race.first.site), index_of(race.second.site)});
  return {.low_site = low, .high_site = high, .kind = race.kind, .space = race.second.space};
}

bool RaceLog::count_again(const RaceEvent& race) {
  const std::lock_guard lock(mutex_);
  const auto known = races_.find(identity_of(race));
  if (known == races_.end()) {
    return false;
  }
  RaceEvent& earlier = findings_.races[known->second];
  if (earlier.severity == Severity::kWarning && race.severity == Severity::kError) {
    return false;
  }
  earlier.count += race.count;
  return true;
}

void RaceLog::add(RaceEvent race) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = races_.try_emplace(identity_of(race), findings_.races.size());
  if (is_new) {
    findings_.races.push_back(std::move(race));
    return;
  }
  RaceEvent& earlier = findings_.races[known->second];
  race.count += earlier.count;
  earlier = std::move(race);
}

void RaceLog::add(BarrierDivergence divergence) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t identity =
      (std::uint64_t{index_of(divergence.arrived.site)} << 32) | divergence.barrier;
  const auto [known, is_new] = divergences_.try_emplace(identity, findings_.divergences.size());
  if (is_new) {
    findings_.divergences.push_back(std::move(divergence));
  } else {
    ++findings_.divergences[known->second].count;
  }
}

}  // namespace barracuda::detector
