#include "host_detector/queue/decode.h"

#include <bit>
#include <cstring>

#include "base/assert.h"
#include "device_logger/order_number.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {
namespace {

using wire::RecordKind;

template <typename T>
T read_at(std::span<const std::byte> record, std::size_t offset) {
  constexpr std::size_t kBytes = sizeof(T);
  DEBUG_ASSERT(offset + kBytes <= record.size());
  T value{};
  std::memcpy(&value, record.data() + offset, kBytes);
  return value;
}

std::uint64_t join_address(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high & ((1U << wire::kAddressHighBits) - 1)} << 32) | low;
}

bool is_known(RecordKind kind) {
  switch (kind) {
    case RecordKind::kVoid:
    case RecordKind::kAffine:
    case RecordKind::kScattered:
    case RecordKind::kRelease:
    case RecordKind::kAcquire:
    case RecordKind::kEvent:
    case RecordKind::kOperands:
    case RecordKind::kAffineValue:
    case RecordKind::kEarlier:
    case RecordKind::kTensorCopy:
    case RecordKind::kBlockEvent:
    case RecordKind::kSettled:
    case RecordKind::kWarpBarriers:
      return true;
  }
  return false;  // a byte that no version of ours writes
}

bool has_entries(RecordKind kind) {
  return kind == RecordKind::kScattered || kind == RecordKind::kRelease ||
         kind == RecordKind::kAcquire || kind == RecordKind::kOperands ||
         kind == RecordKind::kTensorCopy;
}

std::uint64_t join_value(const wire::LaneValueHalf& half) {
  return (std::uint64_t{half.value_high} << 32) | half.value_low;
}

// Calls visit(lane, offset of its entry).
template <typename Visit>
void for_each_entry(const RecordHeader& header, std::size_t entry_bytes, Visit visit) {
  std::size_t offset = wire::kSlotBytes;
  for (std::uint32_t rest = header.mask; rest != 0; rest &= rest - 1) {
    visit(static_cast<std::uint32_t>(std::countr_zero(rest)), offset);
    offset += entry_bytes;
  }
}

constexpr std::int64_t kMostPacked = 64;  // bytes from lane to lane

// Both halves by value: what is written may be anywhere for all that the compiler knows.
bool decode_affine(wire::HeaderHalf first, wire::PatternHalf pattern, WarpOperation& operation) {
  if (first.width_log2 > 5 || first.mask == 0) {
    return false;
  }
  const std::uint64_t base = join_address(pattern.base_low, pattern.base_high);
  const std::uint32_t shift = first.width_log2;
  const std::uint32_t width = std::uint32_t{1} << shift;
  const bool holds_value =
      operation.kind == RecordKind::kAffine && (pattern.flags & wire::kUniformValue) != 0;
  operation.lanes_agree = (pattern.flags & wire::kLanesAgree) != 0;
  operation.has_uniform_value = holds_value;
  operation.uniform_value = holds_value ? static_cast<std::uint32_t>(pattern.stride1) : 0;
  operation.row_log2 = first.width_log2;
  operation.row_stride = pattern.stride0;
  const std::int64_t stride0 = pattern.stride0;
  const std::int64_t stride1 = holds_value ? 0 : pattern.stride1;
  const auto set = [&](std::uint32_t lane, std::int64_t offset) {
    LaneAccess& access = operation.lanes[lane];
    access.address = (base + static_cast<std::uint64_t>(offset)) & kAddressBits;
    access.flags = 0;
  };
  // Next to each other in ascending order: most are.
  operation.has_all_lanes = width != wire::kWarpLanes || stride0 <= 0 || stride0 > kMostPacked;
  if (!operation.has_all_lanes) {
    const std::uint32_t lane = first_lane(first.mask);
    set(lane, lane * stride0);
    return true;
  }
  for (std::uint32_t row = 0; row < wire::kWarpLanes; row += width) {
    for (std::uint32_t lane = 0; lane < width; ++lane) {
      set(row + lane, (row >> shift) * stride1 + lane * stride0);
    }
  }
  return true;
}

bool decode_affine_value(std::span<const std::byte> record, wire::HeaderHalf first,
                         wire::PatternHalf pattern, WarpOperation& operation) {
  if (record.size() < 2 * wire::kSlotBytes || !decode_affine(first, pattern, operation)) {
    return false;
  }
  operation.kind = RecordKind::kAffine;
  operation.has_uniform_value = true;
  operation.uniform_value = join_value(read_at<wire::LaneValueHalf>(record, wire::kSlotBytes));
  return true;
}

bool decode_earlier(std::span<const std::byte> record, wire::HeaderHalf first,
                    wire::PatternHalf pattern, WarpOperation& operation) {
  const bool has_value = (pattern.flags & wire::kUniformValue) != 0;
  operation.interval = static_cast<std::uint16_t>(pattern.stride0);
  pattern.flags = 0;
  pattern.stride0 = 0;
  if (!is_single(first.mask) || !decode_affine_value(record, first, pattern, operation)) {
    return false;
  }
  operation.is_earlier = true;
  operation.has_uniform_value = has_value;
  operation.is_settled = static_cast<RecordKind>(first.kind) == RecordKind::kSettled;
  operation.settled_cta = read_at<wire::LaneValueHalf>(record, wire::kSlotBytes).reserved1;
  return true;
}

void decode_scattered(const RecordHeader& header, wire::PatternHalf pattern,
                      std::span<const std::byte> record, WarpOperation& operation) {
  operation.has_uniform_value = (pattern.flags & wire::kUniformValue) != 0;
  operation.uniform_value =
      std::uint64_t{static_cast<std::uint32_t>(pattern.stride1)} << 32 | pattern.base_low;
  for_each_entry(header, wire::kHalfBytes, [&](std::uint32_t lane, std::size_t offset) {
    const auto entry = read_at<wire::LaneAddress>(record, offset);
    operation.lanes[lane].address = join_address(entry.address_low, entry.address_high);
    operation.lanes[lane].flags = entry.flags;
  });
}

// LaneRelease, LaneOperands and LaneAcquire begin alike; the last has one value only.
void decode_values(const RecordHeader& header, std::span<const std::byte> record,
                   WarpOperation& operation) {
  static_assert(sizeof(wire::LaneRelease) == sizeof(wire::LaneOperands));
  const bool has_two = header.kind != RecordKind::kAcquire;
  const std::size_t bytes = has_two ? sizeof(wire::LaneRelease) : sizeof(wire::LaneAcquire);
  const auto value_at = [&](std::size_t offset) {
    return join_value(read_at<wire::LaneValueHalf>(record, offset));
  };
  for_each_entry(header, bytes, [&](std::uint32_t lane, std::size_t offset) {
    const auto sync = read_at<wire::LaneSyncHalf>(record, offset);
    operation.lanes[lane] = {.address = join_address(sync.address_low, sync.address_high),
                             .value_read = value_at(offset + wire::kHalfBytes),
                             .value_written = has_two ? value_at(offset + 2 * wire::kHalfBytes) : 0,
                             .flags = sync.flags,
                             .amount = header.kind == RecordKind::kOperands ? sync.number : 0};
  });
}

bool decode_tensor_copy(const RecordHeader& header, std::span<const std::byte> record,
                        WarpOperation& operation) {
  const auto copy = read_at<wire::TensorCopy>(record, wire::kSlotBytes);
  if (!is_single(header.mask) && join_value(copy.mbarrier) != wire::kNoOperand) {
    return false;
  }
  operation.lanes[first_lane(header.mask)] = {
      .address = join_address(copy.shared.address_low, copy.shared.address_high),
      .value_read = join_value(copy.map),
      .value_written = join_value(copy.mbarrier),
      .flags = copy.shared.flags};
  const auto coordinate = [](std::uint32_t word) { return static_cast<std::int32_t>(word); };
  operation.coordinates = {coordinate(copy.shared.number), coordinate(copy.map.reserved1),
                           coordinate(copy.mbarrier.reserved1), coordinate(copy.more.value_low),
                           coordinate(copy.more.value_high)};
  const std::uint32_t offsets = copy.more.reserved1;  // wire::pixel_offsets
  operation.offsets = {static_cast<std::uint16_t>(offsets),
                       static_cast<std::uint16_t>(offsets >> 16 & 0xFF),
                       static_cast<std::uint16_t>(offsets >> 24)};
  return true;
}

}  // namespace

std::uint32_t slots_of(const wire::HeaderHalf& header, const wire::PatternHalf& pattern) {
  const auto kind = static_cast<RecordKind>(header.kind);
  if (!is_known(kind)) {
    return 0;
  }
  if (kind == RecordKind::kVoid) {
    return pattern.base_low;
  }
  return wire::record_slots(kind, static_cast<std::uint32_t>(std::popcount(header.mask)));
}

bool decode(std::span<const std::byte> record, WarpOperation& operation) {
  if (record.size() < wire::kSlotBytes) {
    return false;
  }
  const auto first = read_at<wire::HeaderHalf>(record, 0);
  const auto pattern = read_at<wire::PatternHalf>(record, wire::kHalfBytes);
  operation.kind = static_cast<RecordKind>(first.kind);
  operation.site = wire::SiteId{first.site};
  operation.cta = first.cta;
  operation.warp = pattern.warp;
  operation.mask = first.mask;
  operation.is_earlier = false;
  operation.is_settled = false;
  operation.interval = 0;
  operation.is_of_block = false;
  operation.lanes_agree = false;
  operation.row_log2 = 0;
  operation.has_uniform_value = false;
  operation.has_all_lanes = true;
  if (operation.kind == RecordKind::kAffine) {
    return decode_affine(first, pattern, operation);
  }
  if (operation.kind == RecordKind::kAffineValue) {
    return decode_affine_value(record, first, pattern, operation);
  }
  if (operation.kind == RecordKind::kEarlier || operation.kind == RecordKind::kSettled) {
    return decode_earlier(record, first, pattern, operation);
  }
  const RecordHeader header = header_of(record);
  if (!is_known(header.kind) ||
      (has_entries(header.kind) &&
       record.size() <
           wire::record_slots(header.kind, static_cast<std::uint32_t>(std::popcount(header.mask))) *
               wire::kSlotBytes)) {
    return false;
  }
  switch (header.kind) {
    case RecordKind::kVoid:
    case RecordKind::kAffine:
    case RecordKind::kAffineValue:
    case RecordKind::kEarlier:
    case RecordKind::kSettled:
      return true;
    case RecordKind::kScattered:
      decode_scattered(header, pattern, record, operation);
      return true;
    case RecordKind::kRelease:
    case RecordKind::kAcquire:
    case RecordKind::kOperands:
      decode_values(header, record, operation);
      return true;
    case RecordKind::kWarpBarriers:
      operation.event_operand = pattern.base_low;
      operation.interval = static_cast<std::uint16_t>(pattern.base_low);
      return true;
    case RecordKind::kTensorCopy:
      return decode_tensor_copy(header, record, operation);
    case RecordKind::kBlockEvent:
      operation.kind = RecordKind::kEvent;
      operation.is_of_block = true;
      [[fallthrough]];
    case RecordKind::kEvent:
      operation.event_operand = pattern.base_low;
      operation.event_count = static_cast<std::uint32_t>(pattern.stride1);
      return true;
  }
  return false;
}

void read_order_numbers(std::span<const std::byte> record, OrderNumbers& numbers) {
  const RecordHeader header = header_of(record);
  numbers.count = 0;
  if (header.kind != RecordKind::kRelease && header.kind != RecordKind::kAcquire) {
    return;
  }
  const std::size_t bytes =
      header.kind == RecordKind::kRelease ? sizeof(wire::LaneRelease) : sizeof(wire::LaneAcquire);
  for_each_entry(header, bytes, [&](std::uint32_t, std::size_t offset) {
    const auto entry = read_at<wire::LaneSyncHalf>(record, offset);
    const std::uint64_t tagged = join_address(entry.address_low, entry.address_high);
    if (wire::space_of(tagged) == wire::AddressSpace::kGlobal) {
      DEBUG_ASSERT(numbers.count < numbers.of_lanes.size());
      numbers.of_lanes[numbers.count++] = {
          .counter = wire::order_counter_of(wire::address_of(tagged)), .number = entry.number};
    }
  });
}

}  // namespace barracuda::detector
