#include "weak_memory/memory_model/data_race.h"

namespace barracuda::memory_model {

std::optional<std::pair<std::size_t, std::size_t>> find_data_race(const std::vector<Event>& events,
                                                                  const Skeleton& skeleton,
                                                                  const Consistent& execution) {
  using Kind = Event::Kind;
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t j = i + 1; j < events.size(); ++j) {
      const Event& a = events[i];
      const Event& b = events[j];
      const bool conflict = a.kind != Kind::kInitial && a.accesses() && b.accesses() &&
                            a.thread != b.thread && a.location == b.location &&
                            (a.writes() || b.writes());
      if (conflict && !skeleton.morally_strong.has(i, j) && !execution.cause.has(i, j) &&
          !execution.cause.has(j, i)) {
        return std::pair(i, j);
      }
    }
  }
  return std::nullopt;
}

}  // namespace barracuda::memory_model
