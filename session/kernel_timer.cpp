#include "session/kernel_timer.h"

#include <utility>

#include <fmt/format.h>

namespace barracuda::session {
namespace {

// So many launches are under way before those that are over are looked for.
constexpr std::size_t kMostRunning = 256;

}  // namespace

KernelTimer::KernelTimer(DeviceDriver& driver, std::string path, Now now)
    : driver_(driver), path_(std::move(path)), now_(std::move(now)) {
  time_.no_energy = "no kernel was launched";
}

Mark KernelTimer::begin(Handle stream) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) {
    return {};
  }
  if (!has_begun_) {
    has_begun_ = true;
    energy_at_first_ = driver_.consumed_millijoules();
    first_ = now_();
  }
  if (running_.size() >= kMostRunning) {
    collect();
  }
  return driver_.timed_mark(stream);
}

void KernelTimer::end(Mark begin, Handle stream) {
  if (begin == Mark{}) {
    return;
  }
  const Timed timed{
      .context = driver_.current_context(), .begin = begin, .end = driver_.timed_mark(stream)};
  const std::lock_guard lock(mutex_);
  if (timed.end == Mark{}) {
    release(timed);
  } else {
    running_.push_back(timed);
  }
}

void KernelTimer::close_context(Handle context) {
  const std::lock_guard lock(mutex_);
  collect();
  read_energy();
  std::erase_if(running_, [&](const Timed& timed) {
    if (timed.context == context) {
      release(timed);
    }
    return timed.context == context;
  });
}

void KernelTimer::close() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_closed_, true)) {
    return;
  }
  collect();
  read_energy();
  append_execution_log(path_, time_);
}

void KernelTimer::collect() {
  std::erase_if(running_, [this](const Timed& timed) {
    if (!driver_.is_passed(timed.end)) {
      return false;
    }
    if (const auto nanoseconds = driver_.nanoseconds_between(timed.begin, timed.end)) {
      ++time_.launches;
      time_.nanoseconds += *nanoseconds;
    }
    release(timed);
    return true;
  });
}

void KernelTimer::release(const Timed& timed) {
  for (const Mark mark : {timed.begin, timed.end}) {
    if (mark != Mark{}) {
      driver_.release_mark(mark);
    }
  }
}

void KernelTimer::read_energy() {
  if (!has_begun_) {
    return;
  }
  const auto energy = driver_.consumed_millijoules();
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(now_() - first_);
  time_.millijoules.reset();
  if (!energy || !energy_at_first_ || *energy < *energy_at_first_) {
    time_.no_energy = "NVML does not tell that of this device";
  } else if (time < kLeastForEnergy) {
    time_.no_energy = fmt::format("{} ms are too short for NVML's counter", time.count());
  } else {
    time_.millijoules = *energy - *energy_at_first_;
  }
}

}  // namespace barracuda::session
