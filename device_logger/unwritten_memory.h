// Memory that a launch does not write, as far as it was known before the launch: plain reads of it
// are not logged (docs/decisions/device-filter.md). A write of it all the same is logged as always,
// and told: the reads before it are missing then. One source for the GPU and for the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/address_pattern.h"
#include "device_logger/site_word.h"

namespace barracuda::wire {

struct UnwrittenRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::uint32_t kMostUnwrittenRanges = 8;

// In a launch descriptor. The device writes `written` alone.
struct UnwrittenMemory {
  std::uint32_t count = 0;    // 0: everything is logged
  std::uint32_t written = 0;  // not 0: some lane wrote to one of the ranges
  UnwrittenRange ranges[kMostUnwrittenRanges] = {};
};

static_assert(offsetof(UnwrittenMemory, count) == 0 && offsetof(UnwrittenMemory, written) == 4 &&
              offsetof(UnwrittenMemory, ranges) == 8 &&
              sizeof(UnwrittenMemory) == 8 + sizeof(UnwrittenRange) * kMostUnwrittenRanges &&
              sizeof(UnwrittenRange) == 16);

BARRACUDA_WIRE std::uint32_t bytes_at(std::uint32_t site) {
  return 1U << (site >> kSizeShift & ((1U << kSizeBits) - 1));
}

// Of a plain access. An atomic that keeps states has both bits, and writes.
BARRACUDA_WIRE bool is_plain_read(std::uint32_t site) {
  return (site & (kPlainRead | kPlainWrite)) == kPlainRead;
}

// What becomes of an access to these ranges. `range_at(i)` gives one of `count`.
enum class UnwrittenAccess : std::uint8_t {
  kLogged,
  kLeftOut,  // a plain read, all of whose bytes lie there
  kWrites,   // logged, and told
};

// A range's own bytes are below 2^55, and so are addresses that are not tagged as of another space.
template <class RangeAt>
BARRACUDA_LOGGER UnwrittenAccess judge_unwritten(const RangeAt& range_at, std::uint32_t count,
                                                 std::uint32_t bytes, std::uint64_t address,
                                                 bool is_read) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const UnwrittenRange range = range_at(i);
    const std::uint64_t first = address - range.address;  // huge if it begins before the range
    const bool begins_inside = first < range.bytes;
    if (is_read ? begins_inside && first + bytes <= range.bytes
                : begins_inside || range.address - address < bytes) {
      return is_read ? UnwrittenAccess::kLeftOut : UnwrittenAccess::kWrites;
    }
  }
  return UnwrittenAccess::kLogged;
}

}  // namespace barracuda::wire
