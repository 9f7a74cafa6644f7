#include "host_detector/races/gathered_atomics.h"

#include <algorithm>

namespace barracuda::detector {

bool GatheredAtomics::is_valid() const {
  std::vector<bool> seen(atomics_.size());
  for (std::uint32_t chain = 0; chain < kChains; ++chain) {
    for (std::uint32_t at = first_[chain]; at != kNone; at = atomics_[at].next) {
      if (seen.at(at) || atomics_[at].atomic.lanes == 0 ||
          chain_of(atomics_[at].atomic.tagged) != chain) {
        return false;
      }
      seen[at] = true;
    }
  }
  return std::ranges::find(seen, false) == seen.end();
}

}  // namespace barracuda::detector
