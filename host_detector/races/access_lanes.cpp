// How the lanes of an access are taken: together where they make one cell, else one by one.
#include <algorithm>
#include <bit>

#include "host_detector/races/access.h"
#include "host_detector/races/lane_run.h"

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

}  // namespace

void AccessCheck::record_run(Access& access, std::uint32_t lanes, std::uint32_t shift) {
  const std::uint32_t all = access.lanes;
  access.lanes = lanes;
  const bool is_dense = access.width == std::uint32_t{1} << shift;
  const std::uint64_t start = access.operation.lanes[first_lane(lanes)].address -
                              (std::uint64_t{first_lane(lanes)} << shift);
  for (std::uint32_t rest = lanes; rest != 0;) {
    const std::uint32_t lane = first_lane(rest);
    const std::uint64_t address = start + (std::uint64_t{lane} << shift);
    const auto offset = static_cast<std::uint32_t>(address % kBlockBytes);
    const std::uint32_t fitting = (kBlockBytes >> shift) - (offset >> shift);  // up to its end
    const std::uint32_t window =
        lane + fitting >= wire::kWarpLanes ? kAllLanes : (std::uint32_t{1} << (lane + fitting)) - 1;
    const std::uint32_t inside = rest & window;
    Cell cell = access.pattern;
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
            cell.bytes | Bytes::range(offset + ((first_lane(some) - lane) << shift), access.width);
      }
    }
    record(access, cell, address, kBlockBytes - offset);
    rest &= ~inside;
  }
  access.lanes = all;
}

void AccessCheck::record_per_run(Access& access) {
  const std::uint32_t all = access.lanes;
  for (std::uint32_t rest = all; rest != 0; rest &= ~access.lanes) {
    access.lanes = may_share_cell(access, rest) ? first_same_address(access.operation, rest) : 0;
    if ((access.lanes & (access.lanes - 1)) != 0) {
      record_same_address(access);
      continue;
    }
    const LaneRun next = first_run(access.operation, rest, access.width);
    access.lanes = next.lanes;
    if (is_single(next.lanes)) {
      record_per_lane(access);
    } else {
      record_run(access, next.lanes, next.shift);
    }
  }
  access.lanes = all;
}

// Lanes at the address of the first of `lanes` can be one cell.
bool AccessCheck::may_share_cell(const Access& access, std::uint32_t lanes) {
  const std::uint64_t address = access.operation.lanes[first_lane(lanes)].address;
  return access.site.operation != wire::Operation::kWrite &&
         address % kBlockBytes + access.width <= kBlockBytes;
}

void AccessCheck::record_same_address(Access& access) {
  const std::uint64_t address = access.operation.lanes[first_lane(access.lanes)].address;
  Cell cell = access.pattern;
  const auto offset = static_cast<std::uint32_t>(address % kBlockBytes);
  cell.lanes = access.lanes;
  cell.bytes = Bytes::range(offset, access.width);
  record(access, cell, address, access.width);
}

// A lane's store must not hide what it replaces from the lanes that agree with it. Block by block:
// nobody else may come between check and record.
void AccessCheck::record_agreeing(Access& access) {
  const std::uint32_t all = access.lanes;
  for (std::uint32_t rest = all; rest != 0; rest &= ~access.lanes) {
    const std::uint64_t block = access.operation.lanes[first_lane(rest)].address / kBlockBytes;
    access.lanes = lanes_where(rest, [&](std::uint32_t lane) {
      return access.operation.lanes[lane].address / kBlockBytes == block;
    });
    for (const Mode mode : {Mode::kCheckOnly, Mode::kRecord}) {
      access.mode = mode;
      record_per_lane(access);
    }
  }
  access.lanes = all;
}

void AccessCheck::record_per_lane(Access& access) {
  const std::uint32_t lanes = access.lanes;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint32_t lane = first_lane(rest);
    const LaneAccess& of_lane = access.operation.lanes[lane];
    Cell cell = access.pattern;
    cell.stack = access.actor.warp.stack(lane);
    cell.lanes = std::uint32_t{1} << lane;
    if ((of_lane.flags & wire::kLaneAgrees) != 0 && !cell.is_asynchronous()) {
      cell.flags |= Cell::kAgrees;
    }
    if (access.operation.kind == wire::RecordKind::kRelease && cell.writes()) {
      cell.sequence = engine_.release_records;
      if ((of_lane.flags & wire::kLaneHasWritten) != 0) {
        cell.flags |= Cell::kPublished;
        cell.value = of_lane.value_written;
      }
    }
    access.lanes = cell.lanes;
    record_pieces(access, cell, of_lane);
  }
  access.lanes = lanes;
}

// Of a compare-and-swap the bytes that it leaves as they are were read and not written.
void AccessCheck::record_pieces(Access& access, const Cell& cell, const LaneAccess& of_lane) {
  const std::uint32_t kept = cell.writes() ? bytes_kept(of_lane, access.width) : 0;
  const SharedAccessKind kind = access.kind;
  std::uint32_t done = 0;
  while (done < access.width) {
    const auto offset = static_cast<std::uint32_t>((of_lane.address + done) % kBlockBytes);
    const bool is_kept = (kept >> done & 1) != 0;
    std::uint32_t bytes = std::min(access.width - done, kBlockBytes - offset);
    if (kept != 0) {
      const std::uint32_t alike = is_kept ? ~kept : kept;  // bits where the others begin
      bytes = std::min(bytes, static_cast<std::uint32_t>(std::countr_zero(alike >> done)));
    }
    Cell piece = cell;
    if (is_kept) {
      piece.flags = Cell::kReads;
      piece.value = 0;
      piece.sequence = 0;
      access.kind = SharedAccessKind::kReads;
    }
    piece.bytes = Bytes::range(offset, bytes);
    record(access, piece, of_lane.address + done, bytes);
    access.kind = kind;
    done += bytes;
  }
}

}  // namespace barracuda::detector
