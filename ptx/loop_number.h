// A loop of a function as the instructions in it name it (site_table.h): by a number of its own,
// and by whether all threads of a CTA are known to go round it together. One bit of the number says
// that, so that traces from before it was known are read as they were.
#pragma once

#include <cstdint>

namespace barracuda::ptx {

inline constexpr std::uint32_t kUnevenLoop = std::uint32_t{1} << 31;

// Maybe each thread goes round as often as it likes: a CTA's barrier cannot stand there.
constexpr bool is_uneven(std::uint32_t loop) {
  return (loop & kUnevenLoop) != 0;
}

}  // namespace barracuda::ptx
