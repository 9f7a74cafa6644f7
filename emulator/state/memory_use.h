// What an instruction does to memory, in a byte: for who watches whether threads only poll.
#pragma once

#include <bit>
#include <cstdint>

namespace barracuda::emulator {

enum class MemoryUse : std::uint8_t {
  kNone,    // registers only, or memory that no other thread sees
  kReads,   // ld
  kWrites,  // st, atom, red: it may leave memory as it was
  kMeets,   // a barrier or a warp collective
  kOther,   // may change memory, nobody knows where
};

// `bytes`: of an element, a power of two.
constexpr std::uint8_t memory_use(MemoryUse use, std::uint32_t bytes = 1) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(use) << 4 |
                                   static_cast<unsigned>(std::countr_zero(bytes)));
}

constexpr MemoryUse use_of(std::uint8_t memory) {
  return static_cast<MemoryUse>(memory >> 4);
}

constexpr std::uint32_t element_bytes_of(std::uint8_t memory) {
  return std::uint32_t{1} << (memory & 15);
}

static_assert(use_of(memory_use(MemoryUse::kWrites, 16)) == MemoryUse::kWrites &&
              element_bytes_of(memory_use(MemoryUse::kWrites, 16)) == 16 &&
              memory_use(MemoryUse::kNone) == 0);

}  // namespace barracuda::emulator
