// The difference of two texts in the unified format, as patch and git take it.
#pragma once

#include <string>
#include <vector>

namespace barracuda::report {

// Lines without their ends, in the same order in both: what is changed is found by the longest
// common part. Empty if nothing differs. Three lines of context.
std::string unified_diff(const std::string& file, const std::vector<std::string>& before,
                         const std::vector<std::string>& after);

}  // namespace barracuda::report
