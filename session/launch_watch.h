// The option at-launch-timeout=end on a GPU, where nobody can end a kernel: finds the work of a
// stream that runs for too long. Costs two events a launch. Its callback is called once, in a
// thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "host_detector/launch.h"
#include "session/device_driver.h"

namespace barracuda::session {

struct WatchedLaunch {
  std::string kernel;  // mangled; empty: not known
  detector::LaunchId id{};
};

class LaunchWatch {
 public:
  using Callback = std::function<void(const WatchedLaunch&)>;
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  // `now` is called once at each look at the launches.
  LaunchWatch(DeviceDriver& driver, std::chrono::milliseconds timeout, Callback too_long,
              Now now = std::chrono::steady_clock::now);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  // Before work is put into a stream that is not being captured; the mark belongs to after().
  Mark before(Handle stream) { return driver_.mark(stream); }

  // After it.
  void after(Mark begin, Handle stream, WatchedLaunch launch);
  // Its work is over, and its marks go with it.
  void forget(Handle context);

 private:
  struct Entry {
    WatchedLaunch launch;
    Handle context{};
    Mark begin{}, end{};
    std::chrono::steady_clock::time_point running_since;  // not set before it runs
  };

  void run();
  // The launch that has run for too long, if there is one.
  const WatchedLaunch* look();
  void release(const Entry& entry);

  DeviceDriver& driver_;
  const std::chrono::milliseconds timeout_;
  const Callback too_long_;
  const Now now_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> entries_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace barracuda::session
