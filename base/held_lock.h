// A lock of a mutex that a failed assertion releases: what is left by longjmp runs no destructor,
// and a thread of ours stops where it is (assert.h). For mutexes under which something asserts and
// for which threads of the program wait.
#pragma once

#include <mutex>

namespace barracuda {

class HeldLock {
 public:
  // Called once all locks of the thread are released; it must not assert.
  using Abandoned = void (*)(void* context);

  explicit HeldLock(std::mutex& mutex, Abandoned abandoned = nullptr, void* context = nullptr)
      : mutex_(mutex), outer_(g_innermost), abandoned_(abandoned), context_(context) {
    mutex_.lock();
    g_innermost = this;
  }

  ~HeldLock() {
    g_innermost = outer_;
    mutex_.unlock();
  }

  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  // Those of this thread, which never comes back to what they guard.
  static void release_all() noexcept {
    const HeldLock* const innermost = g_innermost;
    g_innermost = nullptr;
    for (const HeldLock* lock = innermost; lock != nullptr; lock = lock->outer_) {
      lock->mutex_.unlock();
    }
    for (const HeldLock* lock = innermost; lock != nullptr; lock = lock->outer_) {
      if (lock->abandoned_ != nullptr) {
        lock->abandoned_(lock->context_);
      }
    }
  }

 private:
  inline static thread_local HeldLock* g_innermost = nullptr;

  std::mutex& mutex_;
  HeldLock* const outer_;
  const Abandoned abandoned_;
  void* const context_;
};

}  // namespace barracuda
