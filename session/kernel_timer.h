// What the launches of this process cost on a GPU (option execution-log): each is timed between two
// marks of its stream, and the device says how much energy it has used. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "session/device_driver.h"
#include "session/execution_log.h"

namespace barracuda::session {

class KernelTimer {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  // `path`: the file that close() writes.
  KernelTimer(DeviceDriver& driver, std::string path, Now now = std::chrono::steady_clock::now);

  // Around a launch into a stream that is not being captured, with the context current.
  Mark begin(Handle stream);
  void end(Mark begin, Handle stream);

  // The work of the context is over, and it is about to go.
  void close_context(Handle context);
  // What has ended by now is written, once.
  void close();

  // The device counts energy in steps of some tens of milliseconds: less than this is not reported.
  static constexpr std::chrono::milliseconds kLeastForEnergy{500};

 private:
  struct Timed {
    Handle context{};
    Mark begin{}, end{};
  };

  // Adds those that are over.
  void collect();
  void release(const Timed& timed);
  void read_energy();

  DeviceDriver& driver_;
  const std::string path_;
  const Now now_;
  std::mutex mutex_;
  std::deque<Timed> running_;
  KernelTime time_;
  std::optional<std::uint64_t> energy_at_first_;
  std::chrono::steady_clock::time_point first_;
  bool has_begun_ = false, is_closed_ = false;
};

}  // namespace barracuda::session
