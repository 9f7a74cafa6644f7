// One step of a model that has states, and the bytes by which states are told apart.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>

#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model {

// Copies of locations: of a location in memory, in a CTA's view or in a thread's.
using Cells = std::bitset<kMostThreads * kMostLocations>;

struct Transition {
  std::uint8_t rule = 0;  // the model's number for it
  std::uint8_t thread = 0;
  std::uint8_t location = 0;
  std::uint8_t other = 0;   // thread whose value is taken
  std::uint8_t target = 0;  // register that gets the value
  // Commutes with every step of other threads, is never disabled by another, and neither registers
  // nor memory show it: may be taken before everything else.
  bool is_local = false;
  Cells reads, writes;

  static_assert(kMostThreads <= 256 && kMostLocations <= 256, "their numbers are bytes");

  // Same key, same step.
  [[nodiscard]] std::uint64_t key() const {
    return std::uint64_t{rule} | std::uint64_t{thread} << 8U | std::uint64_t{location} << 16U |
           std::uint64_t{other} << 24U | std::uint64_t{target} << 32U;
  }

  [[nodiscard]] bool is_independent_of(const Transition& step) const {
    return thread != step.thread && (writes & (step.reads | step.writes)).none() &&
           (step.writes & reads).none();
  }
};

class StateBytes {
 public:
  void add(std::uint64_t number) {
    // Small numbers, nearly all, take one byte.
    while (number >= 0x80) {
      bytes_ += static_cast<char>(number | 0x80);
      number >>= 7U;
    }
    bytes_ += static_cast<char>(number);
  }

  void add(const StateBytes& other) { bytes_ += other.bytes_; }

  friend auto operator<=>(const StateBytes&, const StateBytes&) = default;

  [[nodiscard]] std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace barracuda::memory_model
