#include "base/hash.h"

#include <cinttypes>
#include <cstdio>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace barracuda {

std::string Hash128::hex() const {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, high, low);
  return digits;
}

Hash128 hash128(std::string_view bytes, std::uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace barracuda
