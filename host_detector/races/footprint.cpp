#include "host_detector/races/footprint.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {
namespace {

// A bit for each byte that a compare-and-swap which wrote left as it was.
std::uint32_t bytes_kept(const LaneAccess& lane, std::uint32_t width) {
  constexpr std::uint16_t kNeeded =
      wire::kLaneCompares | wire::kLaneHasRead | wire::kLaneHasWritten;
  if ((lane.flags & kNeeded) != kNeeded || width > sizeof lane.value_read) {
    return 0;
  }
  std::uint32_t kept = 0;
  for (std::uint32_t byte = 0; byte < width; ++byte) {
    const std::uint64_t changed = lane.value_read ^ lane.value_written;
    kept |= static_cast<std::uint32_t>((changed >> (8 * byte) & 0xFF) == 0) << byte;
  }
  return kept;
}

bool lanes_agree(const WarpOperation& operation, std::uint32_t lanes) {
  if (operation.lanes_agree || operation.kind == wire::RecordKind::kAffine) {
    return operation.lanes_agree;  // a pattern says nothing of single lanes
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    if ((operation.lanes[first_lane(rest)].flags & wire::kLaneAgrees) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool LaneAccesses::may_share_cell(std::uint32_t lanes) const {
  const std::uint64_t address = operation_.lanes[first_lane(lanes)].address;
  return site_.operation != wire::Operation::kWrite &&
         address % kBlockBytes + width_ <= kBlockBytes;
}

LaneLayout LaneAccesses::find_layout(bool is_asynchronous) const {
  const bool is_one_piece = has_one_stack();
  if (operation_.kind == wire::RecordKind::kAcquire && is_one_piece && may_share_cell(lanes_) &&
      first_same_address(operation_, lanes_) == lanes_) {
    return LaneLayout::kSameAddress;
  }
  if (site_.operation == wire::Operation::kWrite && !is_asynchronous &&
      lanes_agree(operation_, lanes_) && !are_apart(operation_, lanes_, width_)) {
    return LaneLayout::kLanesByBlock;
  }
  return is_plain_record() && is_one_piece ? LaneLayout::kRuns : LaneLayout::kLanes;
}

void LaneAccesses::add_what_is_no_run(Footprint& footprint, const Piece& pattern) const {
  ASSERT(layout_ != LaneLayout::kUnknown && layout_ != LaneLayout::kRun);
  if (layout_ == LaneLayout::kSameAddress) {
    add_same_address(footprint, pattern, lanes_);
  } else if (layout_ == LaneLayout::kRuns) {
    add_lanes(footprint, pattern, add_runs(footprint, pattern));
  } else if (layout_ == LaneLayout::kLanes) {
    add_lanes(footprint, pattern, lanes_);
  } else {
    add_lanes_by_block(footprint, pattern, lanes_);
  }
}

void LaneAccesses::add_run(Footprint& footprint, const Piece& pattern, const LaneRun& run) const {
  const std::uint32_t shift = run.shift;
  const bool is_dense = width_ == std::uint32_t{1} << shift;
  const std::uint64_t start = operation_.lanes[first_lane(run.lanes)].address -
                              (std::uint64_t{first_lane(run.lanes)} << shift);
  for (std::uint32_t rest = run.lanes; rest != 0;) {
    const std::uint32_t lane = first_lane(rest);
    const std::uint64_t address = start + (std::uint64_t{lane} << shift);
    const auto offset = static_cast<std::uint32_t>(address % kBlockBytes);
    const std::uint32_t fitting = (kBlockBytes >> shift) - (offset >> shift);  // up to its end
    const std::uint32_t window =
        lane + fitting >= wire::kWarpLanes ? kAllLanes : (std::uint32_t{1} << (lane + fitting)) - 1;
    const std::uint32_t inside = rest & window;
    Piece& piece = footprint.emplace_back(pattern);
    piece.tagged = address;
    piece.lanes = inside;
    Cell& cell = piece.cell;
    if (is_single(inside)) {
      cell.lanes = inside;
    } else {
      cell.lane_shift = shift & 7U;
      cell.lane_base =
          static_cast<std::int8_t>(static_cast<int>(lane) - static_cast<int>(offset >> shift));
    }
    const std::uint32_t past =
        wire::kWarpLanes - static_cast<std::uint32_t>(std::countl_zero(inside));
    const std::uint32_t from_first = inside >> lane;
    if (is_dense && (from_first & (from_first + 1)) == 0) {  // none is missing
      cell.bytes = Bytes::range(offset, (past - lane) << shift);
    } else {
      for (std::uint32_t some = inside; some != 0; some &= some - 1) {
        cell.bytes =
            cell.bytes | Bytes::range(offset + ((first_lane(some) - lane) << shift), width_);
      }
    }
    rest &= ~inside;
  }
}

void LaneAccesses::add_same_address(Footprint& footprint, const Piece& pattern,
                                    std::uint32_t lanes) const {
  const std::uint64_t address = operation_.lanes[first_lane(lanes)].address;
  Piece& piece = footprint.emplace_back(pattern);
  piece.tagged = address;
  piece.lanes = lanes;
  piece.cell.lanes = lanes;
  piece.cell.bytes = Bytes::range(static_cast<std::uint32_t>(address % kBlockBytes), width_);
}

bool LaneAccesses::begins_nothing(std::uint32_t lanes) const {
  const std::uint32_t others = lanes & (lanes - 1);
  if (others == 0) {
    return true;
  }
  const std::uint32_t first = first_lane(lanes), second = first_lane(others);
  const std::uint64_t step = operation_.lanes[second].address - operation_.lanes[first].address;
  return step > std::uint64_t{kBlockBytes} * (second - first);
}

std::uint32_t LaneAccesses::add_runs(Footprint& footprint, const Piece& pattern) const {
  std::uint32_t apart = 0;
  for (std::uint32_t rest = lanes_; rest != 0;) {
    if (begins_nothing(rest)) {
      apart |= rest & (~rest + 1);
      rest &= rest - 1;
      continue;
    }
    const std::uint32_t same = may_share_cell(rest) ? first_same_address(operation_, rest) : 0;
    if ((same & (same - 1)) != 0) {
      add_same_address(footprint, pattern, same);
      rest &= ~same;
      continue;
    }
    const LaneRun run = first_run(operation_, rest, width_);
    if (is_single(run.lanes)) {
      apart |= run.lanes;
    } else {
      add_run(footprint, pattern, run);
    }
    rest &= ~run.lanes;
  }
  return apart;
}

void LaneAccesses::add_lanes(Footprint& footprint, const Piece& pattern,
                             std::uint32_t lanes) const {
  for (const std::uint32_t lane : SetBits(lanes)) {
    const LaneAccess& of_lane = operation_.lanes[lane];
    Piece& piece = footprint.emplace_back(pattern);
    piece.tagged = of_lane.address;
    piece.lanes = std::uint32_t{1} << lane;
    Cell& cell = piece.cell;
    cell.stack = warp_.stack(lane);
    cell.lanes = piece.lanes;
    if ((of_lane.flags & wire::kLaneAgrees) != 0 && !cell.is_asynchronous()) {
      cell.flags |= Cell::kAgrees;
    }
    if (operation_.kind == wire::RecordKind::kRelease && cell.writes() && !cell.is_asynchronous() &&
        (of_lane.flags & wire::kLaneHasWritten) != 0) {
      cell.flags |= Cell::kPublished;
      cell.value = of_lane.value_written;
    }
    const auto offset = static_cast<std::uint32_t>(of_lane.address % kBlockBytes);
    const std::uint32_t kept = cell.writes() ? bytes_kept(of_lane, width_) : 0;
    if (kept == 0 && width_ != 0 && offset + width_ <= kBlockBytes) {
      cell.bytes = Bytes::range(offset, width_);
    } else {
      divide_last(footprint, kept);
    }
  }
}

// Of a compare-and-swap the bytes that it leaves as they are were read and not written.
void LaneAccesses::divide_last(Footprint& footprint, std::uint32_t kept) const {
  const Piece whole = footprint.back();
  footprint.pop_back();
  for (std::uint32_t done = 0, bytes = 0; done < width_; done += bytes) {
    Piece& piece = footprint.emplace_back(whole);
    piece.tagged += done;
    const auto offset = static_cast<std::uint32_t>(piece.tagged % kBlockBytes);
    bytes = std::min(width_ - done, kBlockBytes - offset);
    if (kept != 0) {  // of an access of at most 8 bytes: `done` may be any number without it
      const bool is_kept = (kept >> done & 1) != 0;
      const std::uint32_t alike = is_kept ? ~kept : kept;  // bits where the others begin
      bytes = std::min(bytes, static_cast<std::uint32_t>(std::countr_zero(alike >> done)));
      if (is_kept) {
        if (piece.kind == SharedAccessKind::kNone) {  // else a strong read is of one kind with it
          piece.kind = SharedAccessKind::kReads;
        }
        piece.cell.flags = Cell::kReads;
        piece.cell.value = 0;
        piece.cell.sequence = 0;
      }
    }
    piece.cell.bytes = Bytes::range(offset, bytes);
  }
}

// Those of the block that the first of them touches.
std::uint32_t LaneAccesses::lanes_of_block(std::uint32_t lanes) const {
  const std::uint64_t block = operation_.lanes[first_lane(lanes)].address / kBlockBytes;
  return lanes_where(lanes, [&](std::uint32_t lane) {
    return operation_.lanes[lane].address / kBlockBytes == block;
  });
}

void LaneAccesses::add_lanes_by_block(Footprint& footprint, const Piece& pattern,
                                      std::uint32_t lanes) const {
  for (std::uint32_t rest = lanes; rest != 0;) {
    const std::uint32_t inside = lanes_of_block(rest);
    add_lanes(footprint, pattern, inside);
    rest &= ~inside;
  }
}

}  // namespace barracuda::detector
