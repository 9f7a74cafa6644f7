#include "host_detector/queue/ring_reader.h"

#include <array>
#include <atomic>
#include <cstring>
#include <emmintrin.h>

#include "base/assert.h"
#include "host_detector/queue/decode.h"

namespace barracuda::detector {

RingReader::RingReader(const std::byte* ring, std::uint32_t slots_log2, std::byte* read_position)
    : ring_(ring), read_position_(read_position), slots_log2_(slots_log2) {
  ASSERT(ring != nullptr && read_position != nullptr && slots_log2 < 64);
  ASSERT(reinterpret_cast<std::uintptr_t>(ring) % wire::kHalfBytes == 0);
  ASSERT(reinterpret_cast<std::uintptr_t>(read_position) % alignof(std::uint64_t) == 0);
  std::memcpy(&position_, read_position, sizeof(position_));
  published_ = position_;
}

// A half is written by one 16-byte store and must be read by one load: its tag vouches for the
// rest. C++ has no such atomic, and a thread sanitizer would call it a race.
[[gnu::no_sanitize("thread")]] bool RingReader::copy_half(std::uint64_t slot, std::size_t half,
                                                          std::byte* to) const {
  DEBUG_ASSERT(half < wire::kSlotBytes / wire::kHalfBytes);
  const std::uint64_t index = slot & ((std::uint64_t{1} << slots_log2_) - 1);
  const std::byte* from = ring_ + index * wire::kSlotBytes + half * wire::kHalfBytes;
  const __m128i value = *reinterpret_cast<const volatile __m128i*>(from);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
  std::uint16_t tag = 0;
  std::memcpy(&tag, to, sizeof(tag));
  return tag == wire::lap_tag(slot, slots_log2_);
}

std::size_t RingReader::read(RecordBatch& batch, std::size_t max_slots) {
  const std::uint64_t start = position_;
  const std::uint64_t capacity = std::uint64_t{1} << slots_log2_;
  std::array<std::byte, wire::kMaxRecordSlots * wire::kSlotBytes> record{};
  while (position_ - start < max_slots) {
    if (!copy_half(position_, 0, record.data()) ||
        !copy_half(position_, 1, record.data() + wire::kHalfBytes)) {
      break;
    }
    wire::HeaderHalf header{};
    wire::PatternHalf pattern{};
    std::memcpy(&header, record.data(), sizeof(header));
    std::memcpy(&pattern, record.data() + wire::kHalfBytes, sizeof(pattern));
    const std::uint32_t slots = slots_of(header, pattern);
    if (slots == 0 || slots > capacity) {
      ++malformed_;
      ++position_;
      continue;
    }
    if (static_cast<wire::RecordKind>(header.kind) == wire::RecordKind::kVoid) {
      position_ += slots;
      continue;
    }
    DEBUG_ASSERT(slots <= wire::kMaxRecordSlots);  // a void record alone has more
    bool is_complete = true;
    for (std::uint32_t slot = 1; slot < slots && is_complete; ++slot) {
      std::byte* to = record.data() + slot * wire::kSlotBytes;
      is_complete = copy_half(position_ + slot, 0, to) &&
                    copy_half(position_ + slot, 1, to + wire::kHalfBytes);
    }
    if (!is_complete) {
      break;
    }
    batch.bytes.insert(batch.bytes.end(), record.data(), record.data() + slots * wire::kSlotBytes);
    batch.slots.push_back(slots);
    position_ += slots;
    // The device waits for whole records: never let it wait long for what is long read.
    if (position_ - published_ >= capacity / 4) {
      publish();
    }
  }
  DEBUG_ASSERT(batch.is_valid());
  return position_ - start;
}

void RingReader::publish() {
  if (published_ == position_) {
    return;
  }
  published_ = position_;
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(read_position_))
      .store(position_, std::memory_order_release);
}

}  // namespace barracuda::detector
