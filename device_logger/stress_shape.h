// Memory stress (Sorensen, Donaldson): threads that are none of the program's disturb a scratch
// memory of their own. What they do, on the host and on the device.
#pragma once

#include <cstdint>

namespace barracuda::stress {

enum class StressKind : std::uint32_t {
  kNone,        // nothing
  kRandom,      // each access of a random word, a load or a store
  kSystematic,  // the sequence at the first word of one of `spread` patches
  kCache        // a load and a store of each word in turn
};

struct StressShape {
  StressKind kind = StressKind::kNone;
  std::uint32_t words = 4096;   // of the scratch memory that is used, a power of two
  std::uint32_t threads = 256;  // of a block, at most
  std::uint32_t patch = 64;     // words
  std::uint32_t spread = 2;     // patches that are accessed
  // The accesses of a sequence: bit i says that the i-th is a store.
  std::uint32_t stores = 0b10, length = 2;

  friend bool operator==(const StressShape&, const StressShape&) = default;
};

// Steps of a thread between two looks whether it is to end.
inline constexpr std::uint32_t kStepsBetweenLooks = 16;

}  // namespace barracuda::stress
