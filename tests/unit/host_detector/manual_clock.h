// A clock that stands still until a test advances it, and counts who looks at it: so a test can
// wait until somebody has looked, and need not sleep to show that nothing happened.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace barracuda::detector::test {

class ManualClock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  [[nodiscard]] TimePoint now() {
    looks_.fetch_add(1);
    return TimePoint{std::chrono::hours{1}} + std::chrono::milliseconds{time_.load()};
  }

  void advance(std::chrono::milliseconds time) { time_.fetch_add(time.count()); }

  // Waits until whoever looks regularly has looked at the time as it is now and acted on it. Three
  // more looks may be single ones, by launches that begin meanwhile. False if nobody looks any
  // more.
  [[nodiscard]] bool wait_for_looks() const {
    const std::uint64_t wanted = looks_.load() + 5;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (looks_.load() < wanted && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return looks_.load() >= wanted;
  }

  // What happens meanwhile has happened when it returns.
  [[nodiscard]] bool pass(std::chrono::milliseconds time) {
    const bool is_watched = wait_for_looks();
    advance(time);
    return is_watched && wait_for_looks();
  }

 private:
  std::atomic<std::int64_t> time_ = 0;
  std::atomic<std::uint64_t> looks_ = 0;
};

}  // namespace barracuda::detector::test
