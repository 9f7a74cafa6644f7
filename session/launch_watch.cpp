#include "session/launch_watch.h"

#include <algorithm>
#include <utility>

#include "base/own_thread.h"

namespace barracuda::session {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{50};

}  // namespace

LaunchWatch::LaunchWatch(DeviceDriver& driver, std::chrono::milliseconds timeout, Callback too_long,
                         Now now)
    : driver_(driver),
      timeout_(timeout),
      too_long_(std::move(too_long)),
      now_(std::move(now)),
      thread_([this] { run(); }) {}

LaunchWatch::~LaunchWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void LaunchWatch::after(Mark begin, Handle stream, WatchedLaunch launch) {
  Entry entry{.launch = std::move(launch),
              .context = driver_.current_context(),
              .begin = begin,
              .end = driver_.mark(stream)};
  const std::lock_guard lock(mutex_);
  if (entry.begin == Mark{} || entry.end == Mark{}) {
    release(entry);
    return;
  }
  entries_.push_back(std::move(entry));
  changed_.notify_all();
}

void LaunchWatch::forget(Handle context) {
  const std::lock_guard lock(mutex_);
  entries_.remove_if([&](const Entry& entry) {
    if (entry.context == context) {
      release(entry);
    }
    return entry.context == context;
  });
}

void LaunchWatch::release(const Entry& entry) {
  for (const Mark mark : {entry.begin, entry.end}) {
    if (mark != Mark{}) {
      driver_.release_mark(mark);
    }
  }
}

const WatchedLaunch* LaunchWatch::look() {
  entries_.remove_if([this](const Entry& entry) {
    const bool is_over = driver_.is_passed(entry.end);
    if (is_over) {
      release(entry);
    }
    return is_over;
  });
  const auto now = now_();
  for (Entry& entry : entries_) {
    if (entry.running_since == steady_clock::time_point{}) {
      if (driver_.is_passed(entry.begin)) {
        entry.running_since = now;
      }
    } else if (now - entry.running_since > timeout_) {
      return &entry.launch;
    }
  }
  return nullptr;
}

void LaunchWatch::run() {
  name_own_thread();
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    if (const WatchedLaunch* const found = look()) {
      const WatchedLaunch launch = *found;
      lock.unlock();
      too_long_(launch);
      return;
    }
    changed_.wait_for(lock, std::min(kLookEvery, timeout_));
  }
}

}  // namespace barracuda::session
