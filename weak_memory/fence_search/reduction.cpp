#include "weak_memory/fence_search/reduction.h"

#include <algorithm>
#include <utility>

#include "device_logger/scope_order.h"
#include "ptx/fence_text.h"
#include "weak_memory/place_set.h"

namespace barracuda::weak_memory {
namespace {

// Fences of all memory: of two the one whose scope is no narrower guards no less, but for sc.
bool is_as_strong(const ptx::Fence& fence, const ptx::Fence& other) {
  return wire::includes(fence.scope, other.scope);
}

bool has_fence_behind(const SourcePlace& place) {
  return std::ranges::all_of(place.accesses, [](const ptx::FencePlace& access) {
    return access.next && is_as_strong(*access.next, ptx::default_fence(access));
  });
}

}  // namespace

std::vector<CandidateFence> candidate_fences(const ptx::ModuleFences& fences) {
  std::vector<CandidateFence> candidates;
  for (const SourcePlace& place : source_places(fences.places, true, true, "")) {
    if (has_fence_behind(place)) {
      continue;
    }
    CandidateFence& candidate = candidates.emplace_back();
    for (const ptx::FencePlace& access : place.accesses) {
      candidate.added.push_back({.place = access, .fence = ptx::default_fence(access)});
    }
  }
  const std::size_t first_own = candidates.size();
  for (const ptx::OwnFence& own : fences.own) {
    const auto known =
        std::find_if(candidates.begin() + static_cast<std::ptrdiff_t>(first_own), candidates.end(),
                     [&own](const CandidateFence& candidate) {
                       return !own.lines.empty() && candidate.own.front().lines == own.lines;
                     });
    (known == candidates.end() ? candidates.emplace_back() : *known).own.push_back(own);
  }
  return candidates;
}

Settings with_fences(Settings settings, const std::vector<CandidateFence>& kept,
                     const std::vector<CandidateFence>& all) {
  settings.fences.clear();
  settings.edits.clear();
  for (const CandidateFence& candidate : kept) {
    settings.fences.insert(settings.fences.end(), candidate.added.begin(), candidate.added.end());
  }
  for (const CandidateFence& candidate : all) {
    if (candidate.is_own() && std::ranges::find(kept, candidate) == kept.end()) {
      for (const ptx::OwnFence& own : candidate.own) {
        settings.edits.push_back({.at = own.at, .change = ptx::RemoveFence{}});
      }
    }
  }
  return settings;
}

std::vector<CandidateFence> reduced(std::vector<CandidateFence> all, Stays stays,
                                    const Passes& passes) {
  if (all.empty() || passes({})) {
    return {};
  }
  const auto turn = [stays](std::vector<CandidateFence>& some) {
    if (stays == Stays::kFirst) {
      std::reverse(some.begin(), std::ranges::find_if(some, &CandidateFence::is_own));
    }
  };
  turn(all);
  for (std::size_t size = (all.size() + 1) / 2; size != 0; size /= 2) {
    for (std::size_t begin = 0; begin < all.size() && all.size() > 1;) {
      const std::size_t end = std::min(begin + size, all.size());
      std::vector<CandidateFence> rest = all;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                 rest.begin() + static_cast<std::ptrdiff_t>(end));
      if (!rest.empty() && passes(rest)) {
        all = std::move(rest);
      } else {
        begin = end;
      }
    }
  }
  turn(all);
  return all;
}

}  // namespace barracuda::weak_memory
