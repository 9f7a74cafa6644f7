// Waiting for work that comes from outside without a notification: spins, then yields, then sleeps,
// so that an idle thread leaves its core to the program.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace barracuda::detector {

class IdleWait {
 public:
  void reset() { rounds_ = 0; }

  void wait() {
    ++rounds_;
    if (rounds_ <= kSpins) {
      return;
    }
    if (rounds_ <= kSpins + kYields) {
      std::this_thread::yield();
      return;
    }
    const int microseconds = std::min(kLongest, kShortest * (1 + (rounds_ - kSpins - kYields) / 8));
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  }

 private:
  static constexpr int kSpins = 16;
  static constexpr int kYields = 16;
  static constexpr int kShortest = 50;
  static constexpr int kLongest = 200;
  int rounds_ = 0;
};

}  // namespace barracuda::detector
