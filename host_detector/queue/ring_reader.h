// The host's end of one queue: takes whole records out of the ring and tells the device, seldom,
// how far it has read. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device_logger/record.h"

namespace barracuda::detector {

// Records one after another, each with its slots.
struct RecordBatch {
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> slots;  // of each record

  // The bytes are those of the records, and no record is empty.
  [[nodiscard]] bool is_valid() const {
    std::uint64_t all = 0;
    for (const std::uint32_t count : slots) {
      all += count;
    }
    return all * wire::kSlotBytes == bytes.size() && std::ranges::find(slots, 0U) == slots.end();
  }

  // The records for which is_dropped(record) are taken out.
  template <typename IsDropped>
  void drop_if(IsDropped is_dropped) {
    std::size_t to = 0, kept = 0;
    for_each([&](std::span<const std::byte> record) {
      if (!is_dropped(record)) {
        std::memmove(bytes.data() + to, record.data(), record.size());
        to += record.size();
        slots[kept++] = static_cast<std::uint32_t>(record.size() / wire::kSlotBytes);
      }
    });
    bytes.resize(to);
    slots.resize(kept);
  }

  // Calls visit(record), its bytes.
  template <typename Visit>
  void for_each(Visit visit) const {
    std::span<const std::byte> rest(bytes);
    for (const std::uint32_t count : slots) {
      visit(rest.first(count * wire::kSlotBytes));
      rest = rest.subspan(count * wire::kSlotBytes);
    }
  }
};

class RingReader {
 public:
  RingReader(const std::byte* ring, std::uint32_t slots_log2, std::byte* read_position);

  // Appends complete records until `max_slots` are read or one is incomplete; the number of slots
  // read. What is claimed but not yet written stops it: slots are freed in order.
  std::size_t read(RecordBatch& batch, std::size_t max_slots);
  // Frees what was read. Costs a line of the memory that the device polls.
  void publish();

  [[nodiscard]] std::uint64_t position() const { return position_; }

  // Slots that held no record of a known kind.
  [[nodiscard]] std::uint64_t malformed() const { return malformed_; }

 private:
  [[nodiscard]] bool copy_half(std::uint64_t slot, std::size_t half, std::byte* to) const;

  const std::byte* ring_;
  std::byte* read_position_;
  std::uint32_t slots_log2_;
  std::uint64_t position_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace barracuda::detector
