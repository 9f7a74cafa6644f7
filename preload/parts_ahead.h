// Which parts of a module are compiled before the program asks for them. It launches most kernels
// of a module that has few, and few of one that has the many instances of templates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace barracuda::preload {

// Of a module with more than kMost kernels as many as the program has asked for: it launches the
// instances of a template mostly in the order in which they stand in the text, up or down.
class PartsAhead {
 public:
  static constexpr std::size_t kMost = 16;

  // The numbers of those to be compiled now, in the text, behind the one that it asks for.
  std::vector<std::size_t> after(std::size_t asked, std::size_t count) {
    ASSERT(asked < count);
    const bool is_down = asked < std::exchange(last_, asked);
    seen_.insert(asked);
    std::vector<std::size_t> next;
    std::size_t left = std::min(++asked_, kMost);
    for (std::size_t at = asked; left != 0 && (is_down ? at != 0 : at + 1 != count); --left) {
      at = is_down ? at - 1 : at + 1;
      if (seen_.insert(at).second) {
        next.push_back(at);
      }
    }
    return next;
  }

 private:
  std::set<std::size_t> seen_;
  std::size_t asked_ = 0, last_ = 0;
};

}  // namespace barracuda::preload
