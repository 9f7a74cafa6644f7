#include "device_logger/commit_probe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <catch2/catch.hpp>

#include "emulator/machine.h"

namespace barracuda::wire {
namespace {

TEST_CASE("the probe's kernel leaves the last round in every cell that stores in it", "[logger]") {
  emulator::Machine machine({.seed = 1, .launch_timeout_ms = 60000});
  const auto module = machine.load(std::string(commit_probe_ptx()));
  REQUIRE(module);
  const auto* const kernel = emulator::Machine::find_kernel(**module, kCommitProbeKernel);
  REQUIRE(kernel != nullptr);
  const auto cells = machine.memory().allocate(kCommitProbeBytes, emulator::AllocationKind::kHost);
  REQUIRE(cells);
  constexpr std::uint32_t kRounds = 70;
  std::array<std::byte, 16> parameters{};
  std::memcpy(parameters.data(), &*cells, 8);
  std::memcpy(parameters.data() + 8, &kRounds, 4);
  const auto error = machine.launch(
      *kernel, {.grid = {kCommitProbeBlocks}, .block = {kCommitProbeThreads}}, parameters);
  INFO(error.message);
  REQUIRE(error.code == emulator::DeviceErrorCode::kNone);
  for (std::uint32_t cell = 0; cell < kCommitProbeCells; ++cell) {
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), reinterpret_cast<const std::byte*>(*cells) + cell * kHalfBytes,
                sizeof words);
    // Odd warps store one lane at a time: lane l last in the greatest round that is l modulo 32.
    const std::uint32_t lane = cell % kWarpLanes;
    const bool alone = cell / kWarpLanes % 2 != 0;
    const std::uint32_t last = alone ? kRounds - (kRounds - lane) % kWarpLanes : kRounds;
    CHECK(std::ranges::count(words, last) == 4);
  }
}

}  // namespace
}  // namespace barracuda::wire
