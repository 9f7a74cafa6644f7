// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): a
// generator whose state is a counter, and the mixing of its bits alone.
#pragma once

#include <cstdint>

namespace barracuda {

// The gap between one state of the generator and the next.
inline constexpr std::uint64_t kSplitmixGap = 0x9e3779b97f4a7c15U;

// Neighbouring values get unrelated ones; 0 stays 0.
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

// What the generator gives in this state. The next state is `state + kSplitmixGap`.
constexpr std::uint64_t splitmix64(std::uint64_t state) {
  return mix_bits(state + kSplitmixGap);
}

// The first number of the reference implementation for seed 0.
static_assert(splitmix64(0) == 0xe220a8397b1dcdafU);

}  // namespace barracuda
