#include "emulator/schedules/weak_turns.h"

#include <algorithm>

#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

constexpr std::uint64_t kTurnsBetweenLooks = 4096;

bool has_free_warp(WeakState& weak, const Cluster& cluster) {
  return std::ranges::any_of(cluster.ctas, [&](const auto& cta) {
    return std::ranges::any_of(
        cta->warps, [&](const auto& warp) { return warp->live != 0 && !weak.holds(*warp->weak); });
  });
}

}  // namespace

void WeakTurns::begin_turn() {
  WeakState* weak = context_.weak;
  if (weak == nullptr) {
    return;
  }
  ++weak->turn;
  weak->drain_aged();
  if (weak->turn % kTurnsBetweenLooks == 0) {
    look_for_polling();
    weak->report();
  }
}

std::size_t WeakTurns::choose(const std::vector<std::unique_ptr<Cluster>>& resident,
                              std::size_t number) const {
  if (context_.weak == nullptr || context_.weak->weakness().places.empty()) {
    return number;
  }
  for (std::size_t i = 0; i < resident.size(); ++i) {
    const std::size_t candidate = (number + i) % resident.size();
    if (has_free_warp(*context_.weak, *resident[candidate])) {
      return candidate;
    }
  }
  return number;
}

// Strong stores first: a plain one that somebody waits for is the program's mistake, to be told.
void WeakTurns::look_for_polling() {
  const std::uint64_t clock = context_.clock - clock_, charged = context_.charged - charged_;
  const bool polls = charged * 2 > clock;
  if (polls) {
    context_.weak->drain_all(!was_polling_, WeakEnd::kPoll);
  }
  was_polling_ = polls;
  clock_ = context_.clock;
  charged_ = context_.charged;
}

}  // namespace barracuda::emulator
