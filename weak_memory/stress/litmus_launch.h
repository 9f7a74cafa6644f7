// What the kernel that runs litmus tests (litmus_runner.cu) is given, on the host and on the
// device. Addresses are those of the device; words have four bytes.
#pragma once

#include <cstdint>

#include "device_logger/stress_shape.h"  // IWYU pragma: export

namespace barracuda::stress {

inline constexpr std::uint32_t kWarp = 32;
inline constexpr std::uint32_t kMostTestThreads = 16;
inline constexpr std::uint8_t kNoThread = 0xFF;

struct LitmusLaunch {
  std::uint64_t memory = 0;     // iterations x locations x stride words
  std::uint64_t registers = 0;  // iterations x register_count words
  std::uint64_t meetings = 0;   // a word an iteration: the threads that have come, zeros at first
  std::uint64_t done = 0;       // a word: the test's threads that have ended
  std::uint64_t roles = 0;      // a word a block: its CTA of the test, or one beyond them
  std::uint64_t scratch = 0;    // what stress accesses
  std::uint32_t iterations = 0;
  std::uint32_t locations = 0, stride = 1;
  std::uint32_t register_count = 0;
  std::uint32_t threads = 0, ctas = 0;  // of the test
  std::uint32_t seed = 0;
  std::uint32_t longest_wait = 0;  // turns of a loop before an iteration, drawn below this
  StressShape stress;              // what blocks without a thread of the test do meanwhile
  // The thread of the test that a warp's first lane is, by CTA and warp; the other lanes are none.
  std::uint8_t thread_of[kMostTestThreads][kMostTestThreads] = {};
  std::uint32_t first_register[kMostTestThreads] = {};
};

}  // namespace barracuda::stress
