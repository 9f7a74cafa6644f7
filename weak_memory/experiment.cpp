#include "weak_memory/experiment.h"

#include <utility>

namespace barracuda::weak_memory {

RunAll one_by_one(RunOnce run) {
  return [run = std::move(run)](const std::vector<Settings>& all) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(all.size());
    for (const Settings& settings : all) {
      outcomes.push_back(run(settings));
    }
    return outcomes;
  };
}

}  // namespace barracuda::weak_memory
