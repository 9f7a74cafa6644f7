// Kernels of which strong loads and stores are logged no more (SiteInfo::narrow_kernel). Nothing
// that they ordered is known from then on: a thread behind another of its block, or behind the
// access whose value it saw. Thread-safe; a kernel never leaves.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace barracuda::detector {

class SilentKernels {
 public:
  // Call it before the device falls silent: whoever then sees a later access also sees this.
  void add(std::uint16_t narrow_kernel) {
    word_of(narrow_kernel).fetch_or(bit_of(narrow_kernel), std::memory_order_relaxed);
    are_some_.store(true, std::memory_order_release);
  }

  [[nodiscard]] bool have(std::uint16_t narrow_kernel) const {
    return are_some_.load(std::memory_order_acquire) &&
           (words_[narrow_kernel / kBits].load(std::memory_order_relaxed) &
            bit_of(narrow_kernel)) != 0;
  }

 private:
  static constexpr std::uint32_t kBits = 64;

  static std::uint64_t bit_of(std::uint16_t number) { return std::uint64_t{1} << number % kBits; }

  std::atomic<std::uint64_t>& word_of(std::uint16_t number) { return words_[number / kBits]; }

  std::atomic<bool> are_some_{false};
  std::array<std::atomic<std::uint64_t>, 65536 / kBits> words_{};
};

}  // namespace barracuda::detector
