// The reference's launches: what each comes after, and what griddepcontrol makes of that
// (RACE_RULES.md section 1, launches).
#include <algorithm>
#include <limits>

#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

void join(VectorClock& into, const VectorClock& from) {
  for (const auto& [thread, time] : from) {
    into[thread] = std::max(into[thread], time);
  }
}

// What a clock has that knows that all of the launch is over, its copies included.
Thread ReferenceDetector::end_of(std::uint32_t launch) {
  return {launch, std::numeric_limits<std::uint32_t>::max(), 0, 0};
}

std::set<std::uint32_t> ReferenceDetector::closure(const std::vector<WorkId>& launches) {
  std::set<std::uint32_t> all;
  for (const WorkId launch : launches) {
    const std::uint32_t id = number_of(launch);
    all.insert(id);
    all.insert(launches_[id].before.begin(), launches_[id].before.end());
  }
  return all;
}

void ReferenceDetector::begin_launch(const detector::LaunchInfo& info) {
  begin(number_of(info.id), info);
}

void ReferenceDetector::begin(std::uint32_t id, const detector::LaunchInfo& info) {
  const auto prerequisite = static_cast<std::uint32_t>(info.prerequisite);
  Launch launch{.info = info, .before = closure(info.ordered_after)};
  if (prerequisite != 0) {
    launches_[number_of(info.prerequisite_over)].before = launch.before;
  }
  if (prerequisite != 0 && launches_.at(prerequisite).lets_dependents_begin) {
    std::vector<WorkId> others = info.ordered_after;
    std::erase(others, WorkId(info.prerequisite));
    launch.before = closure(others);
    const std::set<std::uint32_t>& earlier = launches_.at(prerequisite).before;
    launch.before.insert(earlier.begin(), earlier.end());
    launch.awaited = prerequisite;
  }
  // Whatever a thread of a launch before knew, all of this one know.
  VectorClock learnt;
  for (const auto& [thread, state] : threads_) {
    if (launch.before.contains(std::get<0>(thread))) {
      join(learnt, state.clock);
    }
  }
  const auto block = static_cast<std::uint32_t>(info.block.volume());
  for (std::uint32_t cta = 0; cta < info.grid.volume(); ++cta) {
    for (std::uint32_t index = 0; index < block; ++index) {
      threads_[{id, cta, index / 32, index % 32}].clock = learnt;
    }
  }
  launches_[id] = launch;
}

void ReferenceDetector::wait_for_grid(const Thread& thread) {
  const std::uint32_t awaited = launches_.at(std::get<0>(thread)).awaited;
  if (awaited == 0) {
    return;
  }
  VectorClock& clock = threads_.at(thread).clock;
  for (const auto& [earlier, state] : threads_) {
    if (std::get<0>(earlier) == awaited) {
      join(clock, state.clock);
    }
  }
  clock[end_of(awaited)] = 1;
}

}  // namespace barracuda::oracle
