// Litmus tests on the emulated device: a few threads, each with PTX of its own, run many times;
// what they loaded is counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/weakness.h"
#include "tests/unit/emulator/device.h"

namespace barracuda::emulator::test {

// Each thread is the first of a warp. Its text names locations x, y, z as [%x], [%y], [%z] and
// leaves what it has loaded in %r0 to %r3; %p0 to %p9 and %r10 to %r29 are free.
struct LitmusThread {
  std::uint32_t block = 0;
  std::string text;
};

struct Litmus {
  std::vector<LitmusThread> threads;
  bool is_shared = false;  // the locations are, of block 0, which all threads are in
};

// The values of %r0, %r1 … of the threads, as many as `registers` says of each, and how often.
using Outcomes = std::map<std::vector<std::uint32_t>, int>;

struct LitmusRun {
  int times = 400;
  std::uint32_t registers = 2;
};

// The module: a kernel k with the address of the locations, 256 bytes apart, and that of the
// results, four 32-bit words a thread.
std::string litmus_text(const Litmus& litmus);

Outcomes run_litmus(const Litmus& litmus, const Weakness& weakness, const LitmusRun& run = {});

inline int count_of(const Outcomes& outcomes, const std::vector<std::uint32_t>& wanted) {
  const auto found = outcomes.find(wanted);
  return found == outcomes.end() ? 0 : found->second;
}

}  // namespace barracuda::emulator::test
