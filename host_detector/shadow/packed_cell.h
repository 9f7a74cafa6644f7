// A cell of bytes of one word, packed to 24 bytes, as a list of cells has it.
#pragma once

#include <cstdint>

#include "base/assert.h"
#include "host_detector/shadow/cell.h"

namespace barracuda::detector {

// Where a packed cell has what: 4 bits for bytes, 5 for the warp, 3 for the shift, 8 for the lane
// or base, one that says which of these, 11 for the next slot. If it is a lane, the shift says
// whether there are several, which then lie elsewhere.
struct PlaceBits {
  static constexpr unsigned kWarpAt = 4, kShiftAt = 9, kLaneAt = 12, kSingleAt = 20, kNextAt = 21;
  static constexpr std::uint32_t kBytes = 0xF, kWarp = 0x1F, kShift = 0x7, kLane = 0xFF,
                                 kNext = 0x7FF;
  static constexpr std::uint32_t kSeveral = 1;  // a shift
};

static_assert(PlaceBits::kBytes + (PlaceBits::kWarp << PlaceBits::kWarpAt) +
                      (PlaceBits::kShift << PlaceBits::kShiftAt) +
                      (PlaceBits::kLane << PlaceBits::kLaneAt) + (1U << PlaceBits::kSingleAt) +
                      (PlaceBits::kNext << PlaceBits::kNextAt) ==
                  ~std::uint32_t{0},
              "every bit of a place has one meaning");

struct PackedCell {
  static constexpr std::uint8_t kHasRest = 128;              // beside the flags of a cell
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  // no slot

  // All of a cell but its bytes and lanes, if it has no rest.
  static PackedCell alike(const Cell& cell) {
    return {.launch = static_cast<std::uint32_t>(cell.launch()),
            .cta = cell.cta_index(),
            .time = cell.time,
            .site_and_flags = cell.site << 8 | cell.flags,
            .stack_lanes_or_rest = cell.stack,
            .place = std::uint32_t{cell.warp} << PlaceBits::kWarpAt};
  }

  [[nodiscard]] bool has_rest() const { return (site_and_flags & kHasRest) != 0; }

  [[nodiscard]] bool has_several_lanes() const {
    return (place >> PlaceBits::kSingleAt & 1) != 0 &&
           (place >> PlaceBits::kShiftAt & PlaceBits::kShift) == PlaceBits::kSeveral;
  }

  // The slot behind it in its list.
  [[nodiscard]] std::uint32_t next() const { return (place >> PlaceBits::kNextAt) - 1U; }

  void set_next(std::uint32_t next) {
    DEBUG_ASSERT(next + 1U <= PlaceBits::kNext);
    place = (place & ~(PlaceBits::kNext << PlaceBits::kNextAt)) | (next + 1U) << PlaceBits::kNextAt;
  }

  // What its place says of single lanes.
  static std::uint32_t place_of(std::uint32_t lanes) {
    return (is_single(lanes) ? first_lane(lanes) << PlaceBits::kLaneAt
                             : PlaceBits::kSeveral << PlaceBits::kShiftAt) |
           1U << PlaceBits::kSingleAt;
  }

  // As Cell::merge, where no function was called.
  [[nodiscard]] bool is_one_with(const PackedCell& newer) const;
  void add_lanes(const PackedCell& newer);

  std::uint32_t launch, cta;
  Time time;
  std::uint32_t site_and_flags;  // 24 and 8 bits
  // The stack, unless there are several lanes (then there is no stack, and these are they), or a
  // rest, which this is the number of.
  std::uint32_t stack_lanes_or_rest;
  std::uint32_t place;  // PlaceBits; the lanes unless the rest says so
};

static_assert(sizeof(PackedCell) == 6 * sizeof(std::uint32_t), "24 bytes, none of them padding");
static_assert((PackedCell::kHasRest &
               (Cell::kReads | Cell::kWrites | Cell::kUniform | Cell::kAgrees | Cell::kPublished |
                Cell::kAsynchronous | Cell::kMbarrier)) == 0);

inline bool PackedCell::is_one_with(const PackedCell& newer) const {
  constexpr std::uint32_t kAlike =
      PlaceBits::kBytes | PlaceBits::kWarp << PlaceBits::kWarpAt | 1U << PlaceBits::kSingleAt;
  const auto has_no_stack = [](const PackedCell& cell) {
    return cell.has_several_lanes() || cell.stack_lanes_or_rest == 0;
  };
  return launch == newer.launch && cta == newer.cta && time == newer.time &&
         site_and_flags == newer.site_and_flags && has_no_stack(*this) && has_no_stack(newer) &&
         ((place ^ newer.place) & kAlike) == 0;
}

inline void PackedCell::add_lanes(const PackedCell& newer) {
  const auto lanes_of = [](const PackedCell& cell) {
    return cell.has_several_lanes()
               ? cell.stack_lanes_or_rest
               : std::uint32_t{1} << (cell.place >> PlaceBits::kLaneAt & PlaceBits::kLane);
  };
  const std::uint32_t lanes = lanes_of(*this) | lanes_of(newer);
  if (!is_single(lanes)) {
    stack_lanes_or_rest = lanes;
    place = (place & ~(PlaceBits::kLane << PlaceBits::kLaneAt)) | PlaceBits::kSeveral
                                                                      << PlaceBits::kShiftAt;
  }
}

}  // namespace barracuda::detector
