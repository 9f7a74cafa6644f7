// SHA-256 (FIPS 180-4) of bytes that come in pieces: for what a user can check with sha256sum. For
// keys of caches: hash.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace barracuda {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // Of all that was added, as 64 digits. Nothing may be added afterwards.
  [[nodiscard]] std::string hex();

 private:
  static constexpr std::size_t kBlockBytes = 64;

  void mix_block();

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlockBytes> block_{};
  std::uint64_t bytes_ = 0;  // so far; what is not a whole block yet lies in block_
};

std::string sha256_hex(std::string_view bytes);

}  // namespace barracuda
