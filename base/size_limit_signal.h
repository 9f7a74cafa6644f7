// While a process is at its file size limit, a write sends a signal that would end the program.
// Where one of these lives, the thread's writes fail instead.
#pragma once

#include <csignal>
#include <ctime>

namespace barracuda {

class SizeLimitSignalBlocked {
 public:
  SizeLimitSignalBlocked() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &previous_);
  }

  ~SizeLimitSignalBlocked() {
    if (sigismember(&previous_, SIGXFSZ) == 0) {
      const timespec now{};
      sigtimedwait(&signal_, nullptr, &now);
      pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
    }
  }

  SizeLimitSignalBlocked(const SizeLimitSignalBlocked&) = delete;
  SizeLimitSignalBlocked& operator=(const SizeLimitSignalBlocked&) = delete;

 private:
  sigset_t signal_{};
  sigset_t previous_{};
};

}  // namespace barracuda
