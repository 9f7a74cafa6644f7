// Flags by which a kernel without fences hands data on: one thread stores them, another one waits
// for them in a loop. Who races on the data wants to hear of the fences that such a hand-over
// lacks. The detector knows it where a warp waits for one flag; here it is read off the code, where
// each lane waits for its own.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "host_detector/race_event.h"
#include "ptx/site_table.h"

namespace barracuda::report {

struct AwaitedFlag {
  const ptx::Site* store = nullptr;
  const ptx::Site* poll = nullptr;
};

class AwaitedFlags {
 public:
  AwaitedFlags(const std::vector<detector::RaceEvent>& races, const ptx::SiteTable& sites);

  // A flag whose store stands behind the race's first access, where the second one stands behind
  // the loop that waits for it.
  [[nodiscard]] std::optional<AwaitedFlag> between(const detector::RaceEvent& race) const;

 private:
  [[nodiscard]] const ptx::Site* find(const detector::RaceAccess& access) const;

  const ptx::SiteTable& sites_;
  std::vector<std::pair<const ptx::Site*, const ptx::Site*>> flags_;  // store and poll
};

}  // namespace barracuda::report
