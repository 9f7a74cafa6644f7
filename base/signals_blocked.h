// Where one of these lives, its thread takes no signals, nor do threads that it starts: those of
// the program are for the program's own.
#pragma once

#include <csignal>

namespace barracuda {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }

  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t previous_{};
};

}  // namespace barracuda
