// Conflicts of an access with what shadow memory keeps: found as values, reported by others
// (race_report.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "host_detector/races/access.h"

namespace barracuda::detector {

// Lanes of an older cell and of a newer one that nothing orders, at bytes of both.
struct Conflict {
  // The first such pair of lanes.
  std::uint32_t older_lane = 0, lane = 0;
  std::uint32_t byte = 0;      // of the block
  bool is_ordered = false;     // but no proxy fence lies between, or order does not help
  std::uint64_t races = 1;     // pairs of lanes at different bytes
  bool is_everywhere = false;  // at every byte of the newer
  Verdict verdict;
};

// Nothing if all is ordered, or the rules excuse it.
[[nodiscard]] std::optional<Conflict> find_conflict(const PlacedPiece& access, const Cell& older,
                                                    const Cell& newer);

// Calls visit(bytes, older lanes, newer lanes) for the bytes of both cells, those together that the
// same lanes of either touch.
template <typename Visit>
void for_each_pairing(const Cell& older, const Cell& newer, Visit visit) {
  const Bytes both = older.bytes & newer.bytes;
  const auto bytes_of_lane = [](const Cell& cell) -> std::uint32_t {  // as a power of two
    return cell.lanes != 0 ? kBlockShift : cell.lane_shift;
  };
  const std::uint32_t shift = std::min(bytes_of_lane(older), bytes_of_lane(newer));
  for (Bytes rest = both; !rest.none();) {
    const std::uint32_t byte = rest.first();
    const std::uint32_t end = ((byte >> shift) + 1) << shift;
    const Bytes alike = rest & Bytes::upto(end);
    visit(alike, older.lanes_at(byte), newer.lanes_at(byte));
    rest = rest & ~alike;
  }
}

}  // namespace barracuda::detector
