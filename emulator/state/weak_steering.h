// A store that is held until another thread has accessed its bytes steers the schedule: its warp
// waits, so that the others run first.
#pragma once

#include <cstdint>

#include "emulator/state/store_buffer.h"
#include "emulator/state/weak_thread.h"

namespace barracuda::emulator {

class WeakSteering {
 public:
  // The stores that wait and the schedule's turn. Both must outlive it; it looks at them as they
  // are.
  WeakSteering(const PendingStores& pending, const std::uint64_t& turn)
      : pending_(pending), turn_(turn) {}

  // Not for ever: who waits for the warp would wait, too.
  [[nodiscard]] bool is_by(StoreId id) const;
  [[nodiscard]] bool holds(const WeakLanes& lanes) const;

  // Warps that wait with what they hold now go on; it stays delayed.
  void end() { end_ = turn_; }

 private:
  const PendingStores& pending_;
  const std::uint64_t& turn_;
  std::uint64_t end_ = 0;  // stores that were held before this turn steer nobody
};

}  // namespace barracuda::emulator
