// Writes records as the device does: claims slots, waits while the queue is full, and stores every
// half with its tag. One writer a queue here; the device has many.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <emmintrin.h>
#include <memory>
#include <thread>
#include <vector>

#include "device_logger/launch_descriptor.h"
#include "host_detector/pipeline.h"

namespace barracuda::detector::test {

struct alignas(16) RingHalf {
  std::array<std::byte, wire::kHalfBytes> bytes{};
};

struct RingMemory {
  RingMemory(std::uint32_t queue_count, std::uint32_t log2)
      : slots_log2(log2),
        queues(queue_count),
        rings((std::size_t{queue_count} << log2) * 2),
        positions(std::size_t{queue_count} * wire::kReadPositionStride) {}

  [[nodiscard]] QueueSet set() {
    return {.rings = reinterpret_cast<const std::byte*>(rings.data()),
            .queue_count = queues,
            .slots_log2 = slots_log2,
            .read_positions = positions.data()};
  }

  std::uint32_t slots_log2;
  std::uint32_t queues;
  std::vector<RingHalf> rings;
  std::vector<std::byte> positions;
};

class RingWriter {
 public:
  RingWriter(RingMemory& memory, std::uint32_t queue) : memory_(memory), queue_(queue) {}

  // Waits until the slots are free, as the device does.
  std::uint64_t claim(std::uint32_t slots) {
    const std::uint64_t slot = head_;
    head_ += slots;
    while (head_ > read_position() + (std::uint64_t{1} << memory_.slots_log2)) {
      ++waits_;
      std::this_thread::yield();
    }
    return slot;
  }

  template <typename Half>
  void put(std::uint64_t slot, std::size_t half, Half value) {
    static_assert(sizeof(Half) == wire::kHalfBytes);
    value.tag = wire::lap_tag(slot, memory_.slots_log2);
    __m128i whole;
    std::memcpy(&whole, &value, sizeof(whole));
    const std::uint64_t index = slot & ((std::uint64_t{1} << memory_.slots_log2) - 1);
    *reinterpret_cast<volatile __m128i*>(
        &memory_.rings[((std::uint64_t{queue_} << memory_.slots_log2) + index) * 2 + half]) = whole;
  }

  void header(std::uint64_t slot, wire::RecordKind kind, const WarpOperation& what) {
    put(slot, 1,
        wire::PatternHalf{.tag = 0,
                          .stride0 = 0,
                          .base_low = what.event_operand,
                          .base_high = 0,
                          .warp = what.warp & 31U,
                          .flags = 0,
                          .stride1 = static_cast<std::int32_t>(what.event_count)});
    put(slot, 0,
        wire::HeaderHalf{.tag = 0,
                         .launch = static_cast<std::uint16_t>(what.launch),
                         .site = static_cast<std::uint32_t>(what.site) & 0xFFFFFF,
                         .kind = static_cast<std::uint32_t>(kind) & 0xF,
                         .width_log2 = 0,
                         .mask = what.mask,
                         .cta = what.cta});
  }

  // The whole record at once; numbers of the lanes of releases and acquires.
  void write(const WarpOperation& what,
             const std::array<std::uint32_t, wire::kWarpLanes>& numbers = {}) {
    const auto lanes = static_cast<std::uint32_t>(std::popcount(what.mask));
    const wire::RecordKind kind =
        what.kind == wire::RecordKind::kAffine ? wire::RecordKind::kScattered : what.kind;
    write_at(claim(wire::record_slots(kind, lanes)), kind, what, numbers);
  }

  void write_at(std::uint64_t slot, wire::RecordKind kind, const WarpOperation& what,
                const std::array<std::uint32_t, wire::kWarpLanes>& numbers) {
    std::uint64_t half = 2;  // from the header's slot
    const auto next = [&](auto value) {
      put(slot + half / 2, half % 2, value);
      ++half;
    };
    for (std::uint32_t rest = what.mask; rest != 0 && kind != wire::RecordKind::kEvent;
         rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const LaneAccess& access = what.lanes[lane];
      const auto low = static_cast<std::uint32_t>(access.address);
      const auto high = static_cast<std::uint32_t>(access.address >> 32);
      const auto flags =
          static_cast<std::uint16_t>(access.flags | (what.lanes_agree ? wire::kLaneAgrees : 0));
      if (kind == wire::RecordKind::kScattered) {
        next(wire::LaneAddress{
            .tag = 0, .flags = flags, .address_low = low, .address_high = high, .reserved = 0});
        continue;
      }
      next(wire::LaneSyncHalf{.tag = 0,
                              .flags = flags,
                              .address_low = low,
                              .address_high = high,
                              .number = numbers[lane]});
      next(value(access.value_read));
      if (kind == wire::RecordKind::kRelease) {
        next(value(access.value_written));
        next(value(0));
      }
    }
    if (half % 2 != 0) {
      next(wire::LaneAddress{});
    }
    header(slot, kind, what);
  }

  [[nodiscard]] std::uint64_t read_position() const {
    return std::atomic_ref<std::uint64_t>(
               *reinterpret_cast<std::uint64_t*>(memory_.positions.data() +
                                                 queue_ * wire::kReadPositionStride))
        .load(std::memory_order_acquire);
  }

  [[nodiscard]] std::uint64_t waits() const { return waits_; }

  [[nodiscard]] std::uint64_t head() const { return head_; }

 private:
  static wire::LaneValueHalf value(std::uint64_t bits) {
    return {.tag = 0,
            .reserved0 = 0,
            .value_low = static_cast<std::uint32_t>(bits),
            .value_high = static_cast<std::uint32_t>(bits >> 32),
            .reserved1 = 0};
  }

  RingMemory& memory_;
  std::uint32_t queue_;
  std::uint64_t head_ = 0;
  std::uint64_t waits_ = 0;
};

}  // namespace barracuda::detector::test
