#include "session/kernel_failures.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/strong_id.h"
#include "session/launch_tracker.h"
#include "session/source_line.h"

namespace barracuda::session {
namespace {

detector::Dim3 extent_of(const emulator::Dim3& extent) {
  return {.x = extent.x, .y = extent.y, .z = extent.z};
}

report::KernelEnd end_of(emulator::DeviceErrorCode code) {
  using enum emulator::DeviceErrorCode;
  return code == kTimeout || code == kUnended ? report::KernelEnd::kTimeout
         : code == kDeadlock                  ? report::KernelEnd::kDeadlock
                                              : report::KernelEnd::kMemoryError;
}

struct StickyError {
  DriverStatus status;
  const char* what;
};

constexpr StickyError kStickyErrors[] = {
    {.status = 700, .what = "access to an illegal address"},
    {.status = 702, .what = "kernel timed out"},
    {.status = 710, .what = "device-side assertion failed"},
    {.status = 714, .what = "hardware stack error"},
    {.status = 715, .what = "illegal instruction"},
    {.status = 716, .what = "misaligned access"},
    {.status = 717, .what = "access in the wrong address space"},
    {.status = 718, .what = "jump to an invalid address"},
    {.status = 719, .what = "kernel ended by a trap or an unspecified fault"},
};

const StickyError* find_sticky(DriverStatus status) {
  const auto* const found = std::ranges::find(kStickyErrors, status, &StickyError::status);
  return found == std::end(kStickyErrors) ? nullptr : found;
}

}  // namespace

bool is_sticky(DriverStatus status) {
  return find_sticky(status) != nullptr;
}

void KernelFailures::image_blocked(const std::string& reason) {
  kernel_blocked(reason + ". The emulated device executes PTX only.");
}

void KernelFailures::kernel_blocked(const std::string& reason) {
  const std::string sentence = "a kernel cannot run on the emulated device: " + reason;
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(blocked_, sentence) == blocked_.end()) {
    blocked_.push_back(sentence);
  }
}

// On the emulated device the launch itself has said where it failed.
bool KernelFailures::context_failed(Handle context, DriverStatus status) {
  const std::lock_guard lock(mutex_);
  if (!failed_contexts_.insert(context).second) {
    return false;
  }
  if (!driver_.is_emulated()) {
    report::MemoryErrorRecord& error = memory_errors_.emplace_back();
    error.what = find_sticky(status)->what;
  }
  return true;
}

void KernelFailures::kernel_died(const WatchedLaunch& launch) {
  const std::lock_guard lock(mutex_);
  ASSERT(!memory_errors_.empty());
  memory_errors_.back().kernel = launch.kernel;
  memory_errors_.back().launch = launch.id;
}

void KernelFailures::context_ended(Handle context) {
  const std::lock_guard lock(mutex_);
  failed_contexts_.erase(context);
}

void KernelFailures::timed_out(const WatchedLaunch& launch, std::uint64_t seconds) {
  const std::lock_guard lock(mutex_);
  report::MemoryErrorRecord& error = memory_errors_.emplace_back();
  error.end = report::KernelEnd::kTimeout;
  error.what = "did not end within " + std::to_string(seconds) +
               " s (launch-timeout); a GPU's kernel cannot be ended, so the program was";
  error.kernel = launch.kernel;
  error.launch = launch.id;
}

std::vector<ptx::SourceFrame> KernelFailures::frames_at(std::string_view kernel,
                                                        const std::string& function,
                                                        std::uint32_t ptx_line) const {
  std::vector<ptx::SourceFrame> frames;
  if (const ProgramImage* const image = modules_.find_image_of(kernel); image != nullptr) {
    const ptx::SiteList sites = modules_.sites();
    const auto first = sites.table().begin() + index_of(image->first_site);
    frames = source_frames(modules_.loaded_text(*image, kernel), ptx_line,
                           {first, first + image->site_count});
  }
  if (frames.empty()) {
    frames.push_back({.function = function});
  }
  return frames;
}

void KernelFailures::device_failed(const emulator::DeviceError& error, std::string_view kernel,
                                   detector::LaunchId launch) {
  if (error.code == emulator::DeviceErrorCode::kIllegalInstruction) {
    // The program did nothing wrong.
    kernel_blocked(error.message);
    return;
  }
  report::MemoryErrorRecord record;
  record.end = end_of(error.code);
  record.what = error.what.empty() ? error.message : error.what;
  record.kernel = kernel;
  record.launch = launch;
  record.address = error.address;
  record.size = error.access_bytes;
  record.is_write = error.is_write;
  record.has_thread = !error.function.empty();
  record.block = extent_of(error.block);
  record.thread = extent_of(error.thread);
  record.inlined = frames_at(kernel, error.function, error.ptx_line);
  record.where = record.inlined.front();
  for (const emulator::Standing& standing : error.standing) {
    record.standing.push_back({.frames = frames_at(kernel, standing.function, standing.ptx_line),
                               .block = extent_of(standing.block),
                               .thread = extent_of(standing.thread),
                               .waits = standing.waits});
  }
  const std::lock_guard lock(mutex_);
  memory_errors_.push_back(std::move(record));
}

void KernelFailures::add_to(report::RunData& run) const {
  const std::lock_guard lock(mutex_);
  run.memory_errors = memory_errors_;
  run.blocked = blocked_;
}

}  // namespace barracuda::session
