// Signals at the edge between the program and the tool. A signal that arrives while the tool is at
// work in one of the program's threads waits until that work is over: its handler could otherwise
// wait for what the interrupted thread holds. The kernel does the waiting and the delivery.
#pragma once

#include <csignal>

namespace barracuda {

// Where one of these lives, its thread takes no signals, nor do threads that it starts: those of
// the program are for the program's own. Faults of the thread itself are still delivered: a blocked
// one would end the process without a word. So are signals of that name that somebody sent:
// preload/reporter.cpp holds them back.
class SignalsBlocked {
 public:
  // Of the calling thread; for signal handlers, too.
  static bool hold_here() { return g_outside != nullptr && !g_are_allowed; }

  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
    for (const int fault : kFaults) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
    is_outermost_ = g_outside == nullptr;
    if (is_outermost_) {
      g_outside = &previous_;
    }
  }

  ~SignalsBlocked() {
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
    if (is_outermost_) {
      g_outside = nullptr;
    }
  }

  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  friend class SignalsAllowed;

  // What the thread took before the outermost of them.
  inline static thread_local const sigset_t* g_outside = nullptr;
  inline static thread_local bool g_are_allowed = false;

  sigset_t previous_{};
  bool is_outermost_ = false;
};

// Where one of these lives inside a SignalsBlocked, the thread takes what it takes outside: for
// waits that may last; they do not nest. The thread must hold no lock of the tool's.
class SignalsAllowed {
 public:
  SignalsAllowed() {
    if (SignalsBlocked::g_outside != nullptr) {
      SignalsBlocked::g_are_allowed = true;
      pthread_sigmask(SIG_SETMASK, SignalsBlocked::g_outside, &blocked_);
      is_needed_ = true;
    }
  }

  ~SignalsAllowed() {
    if (is_needed_) {
      pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
      SignalsBlocked::g_are_allowed = false;
    }
  }

  SignalsAllowed(const SignalsAllowed&) = delete;
  SignalsAllowed& operator=(const SignalsAllowed&) = delete;

 private:
  sigset_t blocked_{};
  bool is_needed_ = false;
};

}  // namespace barracuda
