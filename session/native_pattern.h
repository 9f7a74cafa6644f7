// Whether the addresses of the active lanes follow a pattern that fits a record's header: what
// device_logger/logger_address.cuh finds on the device, of all lanes at once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "device_logger/record.h"

namespace barracuda::session {

// Tagged addresses by lane; those of lanes that are not active mean nothing.
using LaneWords = std::array<std::uint64_t, wire::kWarpLanes>;

struct ActiveLanes {
  std::uint32_t mask = 0;

  [[nodiscard]] std::uint32_t leader() const {
    return static_cast<std::uint32_t>(std::countr_zero(mask));
  }

  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::popcount(mask));
  }
};

// visit(lane, rank) in lane order.
template <class Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  std::uint32_t rank = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    visit(static_cast<std::uint32_t>(std::countr_zero(rest)), rank++);
  }
}

// base + (l % w) * stride0 + (l / w) * stride1, as in record.h.
struct AddressPattern {
  bool found = false;
  bool may_overlap = false;  // some lanes may touch the same bytes
  std::uint32_t width_log2 = 5;
  std::int32_t stride0 = 0, stride1 = 0;
  std::uint64_t base = 0;
};

AddressPattern find_pattern(const LaneWords& addresses, const ActiveLanes& lanes);

}  // namespace barracuda::session
