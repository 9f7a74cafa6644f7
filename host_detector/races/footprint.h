// What an access touches: a value, made of the operation alone before any older access is looked
// at. Lanes that one cell can name together are one piece.
#pragma once

#include <cstdint>

#include <boost/container/small_vector.hpp>

#include "host_detector/clock/warp_state.h"
#include "host_detector/lanes.h"
#include "host_detector/races/lane_run.h"
#include "host_detector/shadow/cell.h"
#include "host_detector/shadow/word_lists.h"

namespace barracuda::detector {

// A part of an access that lies in one block.
struct Piece {
  Cell cell;                 // what is recorded of it: its bytes, its lanes and what all have
  std::uint64_t tagged = 0;  // address of its first byte
  std::uint32_t lanes = 0;   // that touch some of it
  SharedAccessKind kind = SharedAccessKind::kNone;  // the shared set that it is of
  // The device has kept it: its lane has made it before those of its copies that are under way, or
  // behind those that are over (Completion::kKept).
  bool is_late = false;
};

// In the order of the lanes, but for those that lie by block.
using Footprint = boost::container::small_vector<Piece, wire::kWarpLanes>;

// How the lanes of an access lie, and so which of them share a cell.
enum class LaneLayout : std::uint8_t {
  kUnknown,       // the addresses of all lanes are needed, and the operation has only the first
  kRun,           // all of them are one run
  kSameAddress,   // all are at one address, and none stores
  kRuns,          // runs, lanes at one address and single lanes; by block if none of them conflict
  kLanes,         // each by itself
  kLanesByBlock,  // the same, those of one block together: some agree on a value
};

// Lanes of a warp that access memory by one instruction.
class LaneAccesses {
 public:
  LaneAccesses(const WarpOperation& operation, const wire::SiteInfo& site, const WarpState& warp,
               std::uint32_t lanes, bool is_asynchronous);

  [[nodiscard]] LaneLayout layout() const { return layout_; }

  // What the lane touches is part of a word of shadow memory.
  [[nodiscard]] bool lies_in_word(std::uint32_t lane) const {
    return width_ != 0 &&
           operation_.lanes[lane].address % WordLists::kWordBytes + width_ <= WordLists::kWordBytes;
  }

  // `pattern`: what all pieces have in common.
  [[nodiscard]] Footprint footprint(const Piece& pattern) const;

  // Of kRuns: all but the lanes that it returns, each of which is a piece by itself.
  [[nodiscard]] std::uint32_t add_runs(Footprint& footprint, const Piece& pattern) const;
  void add_lanes(Footprint& footprint, const Piece& pattern, std::uint32_t lanes) const;

 private:
  // Of a record with addresses and no values nothing says more of one lane than of another.
  [[nodiscard]] bool is_plain_record() const {
    return operation_.kind == wire::RecordKind::kAffine ||
           operation_.kind == wire::RecordKind::kScattered;
  }

  [[nodiscard]] bool has_one_stack() const {
    return warp_.has_one_stack() || lanes_where(lanes_, [&](std::uint32_t lane) {
                                      return warp_.stack(lane) == warp_.stack(first_lane(lanes_));
                                    }) == lanes_;
  }

  // Lanes at the address of the first of `lanes` can be one cell.
  [[nodiscard]] bool may_share_cell(std::uint32_t lanes) const;
  // Of lanes that are not one run.
  [[nodiscard]] LaneLayout find_layout(bool is_asynchronous) const;
  void add_run(Footprint& footprint, const Piece& pattern, const LaneRun& run) const;
  void add_same_address(Footprint& footprint, const Piece& pattern, std::uint32_t lanes) const;
  // Certainly the first of `lanes` shares a cell with no other.
  [[nodiscard]] bool begins_nothing(std::uint32_t lanes) const;
  [[nodiscard]] std::uint32_t lanes_of_block(std::uint32_t lanes) const;
  void add_lanes_by_block(Footprint& footprint, const Piece& pattern, std::uint32_t lanes) const;
  // The last piece is all that a lane touches. A bit of `kept` for each byte that it leaves as it
  // was.
  void divide_last(Footprint& footprint, std::uint32_t kept) const;
  void add_what_is_no_run(Footprint& footprint, const Piece& pattern) const;

  const WarpOperation& operation_;
  const wire::SiteInfo& site_;
  const WarpState& warp_;  // for the call stacks of the lanes
  std::uint32_t lanes_;
  std::uint32_t width_;  // bytes of one lane
  LaneRun start_;        // the run that the first lane begins, if lanes may share cells
  LaneLayout layout_ = LaneLayout::kUnknown;
};

inline LaneAccesses::LaneAccesses(const WarpOperation& operation, const wire::SiteInfo& site,
                                  const WarpState& warp, std::uint32_t lanes, bool is_asynchronous)
    : operation_(operation),
      site_(site),
      warp_(warp),
      lanes_(lanes),
      width_(std::uint32_t{site.element_bytes} * site.element_count) {
  if (is_plain_record() && has_one_stack()) {
    start_ = first_run(operation, lanes, width_);
  }
  if (start_.lanes == lanes && !is_single(lanes)) {
    layout_ = LaneLayout::kRun;
  } else if (start_.lanes == lanes || operation.has_all_lanes) {
    layout_ = find_layout(is_asynchronous);
  }
}

inline Footprint LaneAccesses::footprint(const Piece& pattern) const {
  Footprint footprint;
  if (layout_ == LaneLayout::kRun) {
    add_run(footprint, pattern, start_);
  } else {
    add_what_is_no_run(footprint, pattern);
  }
  return footprint;
}

}  // namespace barracuda::detector
