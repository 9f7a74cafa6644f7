// Delta debugging (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input): a part
// of a list that still shows what the whole shows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace barracuda::weak_memory {

// A part of `all` of which `shows` holds, in the order of `all`: of no chunk of it that was left
// out did the rest show it. `shows` holds of `all`. Without single elements that can be left out,
// unless `shows` was asked `most_tests` times before it was that small. An empty list is never
// tried: what shows without anything is not the list's doing.
template <typename T>
std::vector<T> ddmin(std::vector<T> all, const std::function<bool(const std::vector<T>&)>& shows,
                     std::size_t most_tests) {
  std::size_t tests = 0;
  std::size_t chunks = 2;
  while (all.size() >= 2 && tests < most_tests) {
    const std::size_t size = (all.size() + chunks - 1) / chunks;
    bool is_smaller = false;
    const auto try_part = [&](std::vector<T> part) {
      if (is_smaller || part.empty() || part.size() == all.size() || tests == most_tests) {
        return false;
      }
      ++tests;
      if (!shows(part)) {
        return false;
      }
      all = std::move(part);
      return is_smaller = true;
    };
    const std::vector<T> before = all;
    const auto at = [&before](std::size_t index) {
      return before.begin() + static_cast<std::ptrdiff_t>(std::min(index, before.size()));
    };
    for (std::size_t begin = 0; begin < before.size() && !is_smaller; begin += size) {
      if (try_part({at(begin), at(begin + size)})) {
        chunks = 2;
      }
    }
    // Of two chunks, what is left without the one is the other.
    for (std::size_t begin = 0; begin < before.size() && !is_smaller && chunks > 2; begin += size) {
      std::vector<T> rest(before.begin(), at(begin));
      rest.insert(rest.end(), at(begin + size), before.end());
      if (try_part(std::move(rest))) {
        chunks = std::max<std::size_t>(chunks - 1, 2);
      }
    }
    if (!is_smaller) {
      if (chunks >= all.size()) {
        break;
      }
      chunks = std::min(chunks * 2, all.size());
    }
  }
  return all;
}

}  // namespace barracuda::weak_memory
