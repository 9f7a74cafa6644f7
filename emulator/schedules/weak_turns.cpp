#include "emulator/schedules/weak_turns.h"

#include <algorithm>

#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

constexpr std::uint64_t kTurnsBetweenLooks = 4096;
// While a store is held.
constexpr std::uint64_t kTurnsBetweenSteeringLooks = 32;

bool has_free_warp(const WeakState& weak, const Cluster& cluster) {
  return std::ranges::any_of(cluster.ctas, [&](const auto& cta) {
    return std::ranges::any_of(cta->warps, [&](const auto& warp) {
      return warp->live != 0 && !weak.steering.holds(*warp->weak);
    });
  });
}

}  // namespace

bool WeakTurns::Look::polls_since(const Context& context) {
  const std::uint64_t worked = context.clock - clock, polled = context.charged - charged;
  clock = context.clock;
  charged = context.charged;
  return polled * 2 > worked;
}

void WeakTurns::begin_turn() {
  WeakState* weak = context_.weak;
  if (weak == nullptr) {
    return;
  }
  ++weak->turn;
  weak->drain_aged();
  if (!weak->weakness().places.empty() && weak->turn % kTurnsBetweenSteeringLooks == 0 &&
      steering_.polls_since(context_)) {
    weak->steering.end();  // they wait for who waits for them
  }
  if (weak->turn % kTurnsBetweenLooks == 0) {
    look_for_polling();
    weak->log.report();
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

// Strong stores first: if a thread waits for a plain one, that is the program's mistake, and is to
// be shown.
void WeakTurns::look_for_polling() {
  const bool polls = progress_.polls_since(context_);
  if (polls) {
    context_.weak->drain_all(!was_polling_, WeakEnd::kPoll);
  }
  was_polling_ = polls;
}

}  // namespace barracuda::emulator
