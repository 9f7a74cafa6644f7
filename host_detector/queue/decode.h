// Records as they lie in the queues → operations of the detector. A malformed record is refused,
// never trusted: its bytes come from memory that a broken kernel may have written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector {

// The header of a record, copied out of its slots.
struct RecordHeader {
  wire::RecordKind kind = wire::RecordKind::kVoid;
  wire::SiteId site{};
  std::uint16_t launch = 0;  // low 16 bits
  std::uint32_t mask = 0;
  std::uint32_t cta = 0;
};

// What ordering needs of a record that synchronises through global memory.
struct OrderNumber {
  std::uint32_t counter = 0;
  std::uint32_t number = 0;
};

struct OrderNumbers {
  std::array<OrderNumber, wire::kWarpLanes> of_lanes;
  std::size_t count = 0;
};

// Slots of the record that starts with these two halves; 0 for an unknown kind.
std::uint32_t slots_of(const wire::HeaderHalf& header, const wire::PatternHalf& pattern);

// The record has a slot at least.
inline wire::RecordKind kind_of(std::span<const std::byte> record) {
  DEBUG_ASSERT(record.size() >= wire::kSlotBytes);
  wire::HeaderHalf header{};
  std::memcpy(&header, record.data(), sizeof(header));
  return static_cast<wire::RecordKind>(header.kind);
}

// The same.
inline RecordHeader header_of(std::span<const std::byte> record) {
  DEBUG_ASSERT(record.size() >= wire::kSlotBytes);
  wire::HeaderHalf header{};
  std::memcpy(&header, record.data(), sizeof(header));
  return {.kind = static_cast<wire::RecordKind>(header.kind),
          .site = wire::SiteId{header.site},
          .launch = header.launch,
          .mask = header.mask,
          .cta = header.cta};
}

// False for what cannot be a record of its kind. `operation.launch` is left alone.
bool decode(std::span<const std::byte> record, WarpOperation& operation);
// Of the lanes in global memory; none for other kinds than release and acquire.
void read_order_numbers(std::span<const std::byte> record, OrderNumbers& numbers);

}  // namespace barracuda::detector
