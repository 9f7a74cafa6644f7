// What a thread's part in a weak memory is: the stores that it alone sees, and how far back it may
// read.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/state/store_buffer.h"

namespace barracuda::emulator {

inline constexpr std::uint32_t kMostLoadBytes = 32;

using LoadBytes = std::array<std::byte, kMostLoadBytes>;

// A load that was issued and is to take place later: at the latest where it is completed.
struct LateLoad {
  const WeakSite* site = nullptr;
  std::uint64_t address = 0;  // on the host
  std::uint32_t bytes = 0;
  std::uint64_t number = 0;  // of the decision
  std::uint32_t waits = 0;   // turns that its completion leaves to others
  bool took_place = false;
  LoadBytes value{};  // of then; before, what it would have read when it was issued
};

struct WeakThread {
  StoreBuffer buffer;
  std::vector<LateLoad> late;           // not completed yet
  std::uint64_t stores = 0, loads = 0;  // that may be weak, so far
  std::uint64_t window = 0;             // the moment before which it reads nothing
  std::uint32_t yields = 0;             // of the drain that it is in

  struct Access {
    std::uint64_t granule = 0, moment = 0;
  };

  std::vector<Access> accesses;  // its last of each granule since the window began

  // From here on it reads nothing older than `moment`.
  void reset_window(std::uint64_t moment);
  void note_access(std::uint64_t granule, std::uint64_t moment);
  [[nodiscard]] std::uint64_t last_access(std::uint64_t granule) const;
};

using WeakLanes = std::array<WeakThread, kLanes>;

}  // namespace barracuda::emulator
