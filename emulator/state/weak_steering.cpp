#include "emulator/state/weak_steering.h"

#include <algorithm>

namespace barracuda::emulator {
namespace {

// Turns for which a store is held, and its warp left waiting.
constexpr std::uint64_t kSteeringTurns = 4096;

}  // namespace

bool WeakSteering::is_by(StoreId id) const {
  const PendingStore& store = pending_[id];
  return store.is_held && store.turn >= end_ && turn_ - store.turn < kSteeringTurns;
}

bool WeakSteering::holds(const WeakLanes& lanes) const {
  return std::ranges::any_of(lanes, [this](const WeakThread& thread) {
    return std::ranges::any_of(thread.buffer.stores, [this](StoreId id) { return is_by(id); });
  });
}

}  // namespace barracuda::emulator
