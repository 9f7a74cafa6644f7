// for (const std::uint32_t lane : SetBits(mask)): the numbers of the bits that are set, lowest
// first.
#pragma once

#include <bit>
#include <cstdint>

namespace barracuda {

// Always inlined: code for different processors uses it, and one copy would serve all of them.
template <typename Index = std::uint32_t>
class SetBits {
 public:
  class Iterator {
   public:
    [[gnu::always_inline]] constexpr explicit Iterator(std::uint32_t rest) : rest_(rest) {}

    [[gnu::always_inline]] constexpr Index operator*() const {
      return static_cast<Index>(std::countr_zero(rest_));
    }

    [[gnu::always_inline]] constexpr Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }

    [[gnu::always_inline]] constexpr bool operator!=(const Iterator& other) const {
      return rest_ != other.rest_;
    }

   private:
    std::uint32_t rest_;
  };

  [[gnu::always_inline]] constexpr explicit SetBits(std::uint32_t word) : word_(word) {}

  [[nodiscard, gnu::always_inline]] constexpr Iterator begin() const { return Iterator(word_); }

  [[nodiscard, gnu::always_inline]] constexpr Iterator end() const { return Iterator(0); }

 private:
  std::uint32_t word_;
};

}  // namespace barracuda
