// Parts of memory as ranges of bytes, each its first address and its length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "session/device_driver.h"

namespace barracuda::session {

using MemoryRanges = std::vector<MemoryRange>;

inline std::uint64_t end_of(const MemoryRange& range) {
  return range.address + range.bytes;
}

inline bool overlap(const MemoryRange& one, const MemoryRange& other) {
  return one.address < end_of(other) && other.address < end_of(one);
}

inline bool overlap(const MemoryRanges& some, const MemoryRanges& others) {
  return std::ranges::any_of(some, [&](const MemoryRange& one) {
    return std::ranges::any_of(others,
                               [&](const MemoryRange& other) { return overlap(one, other); });
  });
}

// Nothing: with anything that there is.
inline bool may_overlap(const MemoryRanges& some, const std::optional<MemoryRanges>& others) {
  return !some.empty() && (!others || overlap(some, *others));
}

inline bool are_equal(const MemoryRanges& some, const MemoryRanges& others) {
  return std::ranges::equal(some, others, [](const MemoryRange& one, const MemoryRange& other) {
    return one.address == other.address && one.bytes == other.bytes;
  });
}

// What both have, of which the address means nothing if there are no bytes.
inline MemoryRange common_part(const MemoryRange& one, const MemoryRange& other) {
  const std::uint64_t begin = std::max(one.address, other.address);
  const std::uint64_t end = std::min(end_of(one), end_of(other));
  return {.address = begin, .bytes = end > begin ? end - begin : 0};
}

// From the first byte of either to the last.
inline MemoryRange hull(const MemoryRange& one, const MemoryRange& other) {
  const std::uint64_t begin = std::min(one.address, other.address);
  return {.address = begin, .bytes = std::max(end_of(one), end_of(other)) - begin};
}

}  // namespace barracuda::session
