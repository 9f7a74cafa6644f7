#include "session/store_atomicity_probe.h"

#include <cstring>
#include <emmintrin.h>

#include <catch2/catch.hpp>

#include "device_logger/commit_probe.h"
#include "host_memory_driver.h"

namespace barracuda::session {
namespace {

std::byte* cells_of(const ToolKernel& kernel) {
  std::uint64_t address = 0;
  std::memcpy(&address, kernel.arguments[0], sizeof address);
  return reinterpret_cast<std::byte*>(address);
}

std::uint32_t rounds_of(const ToolKernel& kernel) {
  std::uint32_t rounds = 0;
  std::memcpy(&rounds, kernel.arguments[1], sizeof rounds);
  return rounds;
}

void store_whole(std::byte* cell, std::uint32_t round) {
  *reinterpret_cast<volatile __m128i*>(cell) = _mm_set1_epi32(static_cast<int>(round));
}

ToolKernelEnd store_all_whole(const ToolKernel& kernel) {
  for (std::uint32_t round = 1; round <= rounds_of(kernel); ++round) {
    for (std::size_t cell = 0; cell < wire::kCommitProbeCells; ++cell) {
      store_whole(cells_of(kernel) + cell * wire::kHalfBytes, round);
    }
  }
  return ToolKernelEnd::kDone;
}

TEST_CASE("a device whose stores land whole needs no fence") {
  HostMemoryDriver driver;
  driver.kernel = store_all_whole;
  CHECK(choose_commit_mode(driver, Options{}) == wire::CommitMode::kSelfValidating);
  CHECK(driver.blocks.empty());
}

TEST_CASE("one torn store of a whole test is enough for the fallback") {
  HostMemoryDriver driver;
  driver.kernel = [](const ToolKernel& kernel) {
    const ToolKernelEnd end = store_all_whole(kernel);
    // The second half of one store has not arrived when the kernel is over.
    std::memset(cells_of(kernel) + 77 * wire::kHalfBytes + 8, 0, 8);
    return end;
  };
  CHECK(choose_commit_mode(driver, Options{}) == wire::CommitMode::kFenceAndFlag);
  CHECK(driver.blocks.empty());
}

TEST_CASE("a value that is torn for a moment only is seen while the stores go on") {
  alignas(16) std::byte cells[4 * wire::kHalfBytes] = {};
  TornValueWatch watch(cells);
  std::memset(cells + wire::kHalfBytes, 1, 8);
  // The second sweep from here on began after the store.
  for (const std::uint64_t before = watch.sweeps(); watch.sweeps() < before + 2;) {
    std::this_thread::yield();
  }
  std::memset(cells + wire::kHalfBytes + 8, 1, 8);
  CHECK(watch.stop());
}

TEST_CASE("a test that could not be made leads to the fallback") {
  HostMemoryDriver driver;
  SECTION("no memory") {
    driver.limit = 16;
    driver.kernel = store_all_whole;
    CHECK(choose_commit_mode(driver, Options{}) == wire::CommitMode::kFenceAndFlag);
  }
  SECTION("the kernel fails") {
    driver.kernel = [](const ToolKernel&) { return ToolKernelEnd::kFailed; };
    CHECK(choose_commit_mode(driver, Options{}) == wire::CommitMode::kFenceAndFlag);
    CHECK(driver.blocks.empty());
  }
}

TEST_CASE("memory that the test's kernel may still write is not given back") {
  HostMemoryDriver driver;
  driver.kernel = [](const ToolKernel&) { return ToolKernelEnd::kStillRunning; };
  CHECK(choose_commit_mode(driver, Options{}) == wire::CommitMode::kFenceAndFlag);
  REQUIRE(driver.blocks.size() == 1);
  driver.free_device(DevicePointer{driver.blocks.begin()->first});
}

TEST_CASE("the option leaves nothing to test") {
  HostMemoryDriver driver;
  bool was_run = false;
  driver.kernel = [&](const ToolKernel&) {
    was_run = true;
    return ToolKernelEnd::kDone;
  };
  Options options;
  options.commit = "fence-and-flag";
  CHECK(choose_commit_mode(driver, options) == wire::CommitMode::kFenceAndFlag);
  options.commit = "self-validating";
  CHECK(choose_commit_mode(driver, options) == wire::CommitMode::kSelfValidating);
  CHECK_FALSE(was_run);
}

}  // namespace
}  // namespace barracuda::session
