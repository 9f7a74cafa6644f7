#include "base/set_bits.h"

#include <vector>

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

std::vector<std::uint32_t> bits_of(std::uint32_t word) {
  std::vector<std::uint32_t> bits;
  for (const std::uint32_t bit : SetBits(word)) {
    bits.push_back(bit);
  }
  return bits;
}

}  // namespace

TEST_CASE("the bits of a word come lowest first, each once") {
  CHECK(bits_of(0).empty());
  CHECK(bits_of(1) == std::vector<std::uint32_t>{0});
  CHECK(bits_of(0x8000'0012U) == std::vector<std::uint32_t>{1, 4, 31});
  CHECK(bits_of(~0U).size() == 32);
}

TEST_CASE("a word that changes meanwhile changes nothing") {
  std::uint32_t word = 0b101;
  std::uint32_t seen = 0;
  for (const int bit : SetBits<int>(word)) {
    word = 0;
    seen = seen * 10 + static_cast<std::uint32_t>(bit) + 1;
  }
  CHECK(seen == 13);
}

}  // namespace barracuda
