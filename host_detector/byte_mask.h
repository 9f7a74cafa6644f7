// Which bytes a bulk copy with a byte mask copies.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace barracuda::detector {

// Calls visit(offset, bytes) for each stretch of `bytes` bytes, of which those are copied whose bit
// in `mask` is set: bit i is for byte i of each 16.
template <typename Visit>
void for_each_masked(std::uint32_t bytes, std::uint16_t mask, Visit visit) {
  constexpr std::uint32_t kChunk = 16;
  if (mask == 0xFFFF) {
    visit(std::uint32_t{0}, bytes);
    return;
  }
  for (std::uint32_t chunk = 0; chunk < bytes; chunk += kChunk) {
    const std::uint32_t rest = mask;
    for (std::uint32_t at = 0; rest >> at != 0;) {
      at += static_cast<std::uint32_t>(std::countr_zero(rest >> at));
      const auto run = static_cast<std::uint32_t>(std::countr_one(rest >> at));
      if (chunk + at < bytes) {
        visit(chunk + at, std::min(run, bytes - chunk - at));
      }
      at += run;
    }
  }
}

}  // namespace barracuda::detector
