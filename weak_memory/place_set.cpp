#include "weak_memory/place_set.h"

#include <algorithm>

#include <fmt/format.h>

namespace barracuda::weak_memory {
namespace {

bool is_one_place(const ptx::FencePlace& left, const ptx::FencePlace& right) {
  return left.lines.empty() ? left.at == right.at : left.lines == right.lines;
}

}  // namespace

std::string name_of(const ptx::FencePlace& place) {
  return place.lines.empty()
             ? to_string(place.at)
             : fmt::format("{}:{}", place.lines.front().file, place.lines.front().line);
}

std::vector<SourcePlace> source_places(const std::vector<ptx::FencePlace>& all, bool global,
                                       bool shared, const std::string& kernel) {
  std::vector<SourcePlace> places;
  for (const ptx::FencePlace& access : all) {
    const bool is_of_space = access.space == ptx::StateSpace::kGlobal   ? global
                             : access.space == ptx::StateSpace::kShared ? shared
                                                                        : true;
    const bool is_of_kernel =
        kernel.empty() || std::ranges::find(access.kernels, kernel) != access.kernels.end();
    if (!is_of_space || !is_of_kernel) {
      continue;
    }
    const auto known = std::ranges::find_if(places, [&access](const SourcePlace& place) {
      return is_one_place(place.first(), access);
    });
    if (known == places.end()) {
      places.push_back({.accesses = {access}});
    } else {
      known->accesses.push_back(access);
    }
  }
  return places;
}

std::vector<Fence> fences_at(const std::vector<SourcePlace>& places, const ptx::Fence& fence) {
  std::vector<Fence> fences;
  for (const SourcePlace& place : places) {
    for (const ptx::FencePlace& access : place.accesses) {
      fences.push_back({.place = access, .fence = fence, .is_before = false});
    }
  }
  return fences;
}

}  // namespace barracuda::weak_memory
