// A 128-bit hash (XXH3) of bytes, for keys of caches and for telling equal texts apart from others.
// Not for anything an adversary may attack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace barracuda {

struct Hash128 {
  std::uint64_t high = 0, low = 0;

  // 32 digits, high half first.
  [[nodiscard]] std::string hex() const;

  friend constexpr auto operator<=>(const Hash128&, const Hash128&) = default;
};

static_assert(sizeof(Hash128) == 16, "files hold it as it lies in memory");

// Different seeds give independent hashes of the same bytes.
Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0) noexcept;

}  // namespace barracuda
