#include "session/store_atomicity_probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <emmintrin.h>

#include "base/log.h"
#include "device_logger/commit_probe.h"

namespace barracuda::session {
namespace {

// About two milliseconds of each device.
constexpr std::uint32_t kRoundsOfGpu = 4096;
constexpr std::uint32_t kRoundsOfEmulatedDevice = 128;
constexpr std::chrono::milliseconds kPatience{500};

enum class TestResult : std::uint8_t { kWhole, kTorn, kNotRun };

bool is_torn(const std::byte* cell) {
  const __m128i value = *reinterpret_cast<const volatile __m128i*>(cell);
  std::array<std::uint32_t, 4> words{};
  std::memcpy(words.data(), &value, sizeof words);
  return std::ranges::any_of(words, [&](std::uint32_t word) { return word != words[0]; });
}

TestResult test_stores(DeviceDriver& driver) {
  std::byte* const cells = driver.allocate_pinned(wire::kCommitProbeBytes);
  if (cells == nullptr) {
    return TestResult::kNotRun;
  }
  auto address = reinterpret_cast<std::uint64_t>(cells);
  std::uint32_t rounds = driver.is_emulated() ? kRoundsOfEmulatedDevice : kRoundsOfGpu;
  std::array<void*, 2> arguments{&address, &rounds};
  TornValueWatch watch({cells, wire::kCommitProbeBytes});
  const ToolKernelEnd end = driver.run({.ptx = wire::commit_probe_ptx(),
                                        .name = wire::kCommitProbeKernel,
                                        .blocks = wire::kCommitProbeBlocks,
                                        .threads = wire::kCommitProbeThreads,
                                        .arguments = arguments},
                                       kPatience);
  const bool saw_torn = watch.stop();
  if (end != ToolKernelEnd::kStillRunning) {
    driver.free_pinned(cells);
  }
  return end != ToolKernelEnd::kDone ? TestResult::kNotRun
         : saw_torn                  ? TestResult::kTorn
                                     : TestResult::kWhole;
}

}  // namespace

TornValueWatch::TornValueWatch(std::span<const std::byte> cells)
    : cells_(cells), thread_([this] { look(); }) {}

TornValueWatch::~TornValueWatch() {
  stop();
}

void TornValueWatch::look() {
  bool is_last = false;
  while (!is_last) {
    is_last = is_stopping_.load(std::memory_order_acquire);
    for (std::size_t at = 0; at < cells_.size(); at += wire::kHalfBytes) {
      saw_torn_ = saw_torn_ || is_torn(cells_.data() + at);
    }
    sweeps_.fetch_add(1, std::memory_order_release);
  }
}

bool TornValueWatch::stop() {
  is_stopping_.store(true, std::memory_order_release);
  if (thread_.joinable()) {
    thread_.join();
  }
  return saw_torn_;
}

wire::CommitMode choose_commit_mode(DeviceDriver& driver, const Options& options) {
  using wire::CommitMode;
  if (options.commit != "auto") {
    return options.commit == "fence-and-flag" ? CommitMode::kFenceAndFlag
                                              : CommitMode::kSelfValidating;
  }
  switch (test_stores(driver)) {
    case TestResult::kWhole:
      log(Folder::kSession, LogLevel::kInfo, "16-byte stores land whole: records need no fence");
      return CommitMode::kSelfValidating;
    case TestResult::kTorn:
      log(Folder::kSession, LogLevel::kWarning,
          "16-byte stores do not land whole on this device: a fence and a flag commit each record, "
          "which makes logging slower (commit=fence-and-flag)");
      return CommitMode::kFenceAndFlag;
    case TestResult::kNotRun:
      log(Folder::kSession, LogLevel::kWarning,
          "whether 16-byte stores land whole could not be tested: a fence and a flag commit each "
          "record, which makes logging slower (commit=fence-and-flag)");
      return CommitMode::kFenceAndFlag;
  }
  return CommitMode::kFenceAndFlag;
}

}  // namespace barracuda::session
