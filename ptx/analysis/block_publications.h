// Whether other blocks may come to know of what a thread does at a statement: the thread publishes
// to them later on, or one does that has met it in between.
#pragma once

#include <cstddef>
#include <vector>

#include "ptx/analysis/near_stops.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

class BlockPublications {
 public:
  // Statements of one function, in their order.
  struct Places {
    std::vector<std::size_t> publications;  // fences and releases, of a scope that has other blocks
    // Where threads of one block tell each other of what they did, and may be at different
    // statements when they do. Most publications are meetings as well, no barrier is.
    std::vector<std::size_t> meetings;
    std::vector<std::size_t> barriers;  // to which all threads of the block come together
  };

  BlockPublications(const ControlFlow& flow, const Places& places);

  [[nodiscard]] bool come_after(std::size_t statement) const;

 private:
  // Those at which a thread may meet one that publishes later. Nobody meets who is before the next
  // barrier and who is behind it, so these two have come from one barrier.
  [[nodiscard]] std::vector<NearStops::Stop> leading_meetings(const Places& places) const;

  const ControlFlow& flow_;
  NearStops publications_, meetings_;
};

}  // namespace barracuda::ptx
