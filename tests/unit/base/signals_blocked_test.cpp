#include "base/signals_blocked.h"

#include <catch2/catch.hpp>

using barracuda::SignalsAllowed;
using barracuda::SignalsBlocked;

namespace {

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

}  // namespace

TEST_CASE(
    "a thread at work for the tool takes no signals but faults, and those that were sent can be "
    "told to wait") {
  CHECK_FALSE(SignalsBlocked::hold_here());
  {
    const SignalsBlocked outer;
    CHECK(is_blocked(SIGTERM));
    CHECK_FALSE(is_blocked(SIGSEGV));
    {
      const SignalsBlocked inner;
      CHECK(SignalsBlocked::hold_here());
    }
    CHECK(SignalsBlocked::hold_here());
    {
      const SignalsAllowed while_waiting;
      CHECK_FALSE(is_blocked(SIGTERM));
      CHECK_FALSE(SignalsBlocked::hold_here());
    }
    CHECK(is_blocked(SIGTERM));
    CHECK(SignalsBlocked::hold_here());
  }
  CHECK_FALSE(is_blocked(SIGTERM));
  CHECK_FALSE(SignalsBlocked::hold_here());
}

TEST_CASE("where no signals are blocked, allowing them changes nothing") {
  const SignalsAllowed alone;
  CHECK_FALSE(is_blocked(SIGTERM));
  CHECK_FALSE(SignalsBlocked::hold_here());
}
