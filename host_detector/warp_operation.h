// A record, decoded: what a warp did, in the terms of the engines. No more of the wire's format
// than that comes to them.
#pragma once

#include <array>
#include <cstdint>

#include "base/tensor_map.h"
#include "device_logger/record.h"
#include "host_detector/launch.h"

namespace barracuda::detector {

// Of a tagged address.
inline constexpr std::uint64_t kAddressBits =
    (std::uint64_t{1} << (wire::kSpaceShift + wire::kSpaceBits)) - 1;

// One lane of an access.
struct LaneAccess {
  std::uint64_t address = 0;                        // tagged (wire::tagged_address)
  std::uint64_t value_read = 0, value_written = 0;  // kOperands: second, third; kTensorCopy: the
                                                    // map's number, the mbarrier
  std::uint16_t flags = 0;                          // wire::kLane…
  std::uint32_t amount = 0;                         // kOperands alone
};

// One record, decoded: what a warp did.
struct WarpOperation {
  wire::RecordKind kind = wire::RecordKind::kVoid;  // of a kBlockEvent kEvent
  LaunchId launch{};
  wire::SiteId site{};
  std::uint32_t cta = 0;
  std::uint8_t warp = 0;
  std::uint32_t mask = 0;
  bool is_earlier = false;  // wire::RecordKind::kEarlier: the lane may wait or have left meanwhile
  bool is_settled = false;  // wire::RecordKind::kSettled, of a thread of `settled_cta`; also
                            // is_earlier
  std::uint32_t settled_cta = 0;
  std::uint16_t interval = 0;  // the number of a kEarlier or kWarpBarriers
  bool is_of_block = false;  // wire::RecordKind::kBlockEvent: of all threads; `warp` and `mask` say
                             // who logged it
  bool lanes_agree = false;
  // Lanes with the same lane >> row_log2 are `row_stride` bytes apart; 0: nothing is known.
  std::uint8_t row_log2 = 0;
  std::int32_t row_stride = 0;
  bool has_uniform_value = false;
  std::uint64_t uniform_value = 0;                 // wire::stored_value
  std::uint32_t event_operand = 0;                 // kEvent: barrier id, member mask, groups
  std::uint32_t event_count = 0;                   // kEvent: threads of the barrier, 0 = all; of a
                                                   // block's exit: other blocks (kBlockEvent)
  std::array<LaneAccess, wire::kWarpLanes> lanes;  // of active lanes, by lane number
  // Else only the first active lane is filled in, and the others lie `row_stride` bytes apart.
  bool has_all_lanes = true;
  TensorCoordinates coordinates{};  // kTensorCopy, whose lane's value_read is the map's number
  PixelOffsets offsets{};           // likewise, of im2col

  // Only where they are not all filled in.
  [[nodiscard]] WarpOperation with_all_lanes() const;
};

// Calls visit(address, bytes) for what mallocs have given the lanes of a record of kHeap.
template <typename Visit>
void for_each_allocation(const WarpOperation& operation, Visit visit) {
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    const LaneAccess& heap = operation.lanes[lane];
    const bool has_given = operation.kind == wire::RecordKind::kRelease && heap.value_read != 0;
    if ((operation.mask >> lane & 1) != 0 && has_given && heap.value_written != 0) {
      visit(heap.value_read, heap.value_written);
    }
  }
}

}  // namespace barracuda::detector
