#include <algorithm>

#include "emulator/weakness.h"

namespace barracuda::emulator {

void WeakCounts::add_fences(const CodePlace& at, std::uint64_t count) {
  const auto known = std::ranges::find(fences, at, &Fences::at);
  (known == fences.end() ? fences.emplace_back(Fences{.at = at}) : *known).count += count;
}

void WeakCounts::add(const WeakCounts& more) {
  instructions += more.instructions;
  for (std::size_t space = 0; space < stores.size(); ++space) {
    stores[space] += more.stores[space];
  }
  for (const Fences& some : more.fences) {
    add_fences(some.at, some.count);
  }
}

void WeakLog::add(const WeakLog& more) {
  events.insert(events.end(), more.events.begin(), more.events.end());
  starvations.insert(starvations.end(), more.starvations.begin(), more.starvations.end());
  for (std::size_t space = 0; space < drains.size(); ++space) {
    for (std::size_t length = 0; length < drains[space].size(); ++length) {
      drains[space][length] += more.drains[space][length];
    }
  }
  counts.add(more.counts);
}

bool WeakLog::empty() const {
  const auto is_zero = [](const DrainLengths& lengths) {
    return std::ranges::all_of(lengths, [](std::uint64_t count) { return count == 0; });
  };
  return events.empty() && starvations.empty() && counts == WeakCounts{} &&
         std::ranges::all_of(drains, is_zero);
}

}  // namespace barracuda::emulator
