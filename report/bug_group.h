// Bugs that a reader would repair by one thought: one kernel accesses one variable in many places,
// and between any two of them the same order is missing. A sum of a warp without __syncwarp() is
// one thought and some thirty pairs of lines.
#pragma once

#include <vector>

#include "report/bug.h"

namespace barracuda::report {

struct BugGroup {
  Bug first;
  std::vector<Bug> others;  // told in a line each
};

// In the order of their first bugs. Fewer than kLeastAlike bugs are a group each: two or three
// reports of one kernel are read sooner than an abridgement of them is understood.
inline constexpr std::size_t kLeastAlike = 4;
std::vector<BugGroup> groups_of(const std::vector<Bug>& bugs);

}  // namespace barracuda::report
