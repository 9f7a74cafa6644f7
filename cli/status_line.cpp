#include "cli/status_line.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

#include "cli/child_process.h"

namespace barracuda::cli {

void StatusLine::tell(const std::function<std::string()>& text) {
  const auto now = Clock::now();
  if (now < next_ || isatty(STDERR_FILENO) != 1) {
    return;
  }
  next_ = now + kBetween;
  is_shown_ = true;
  std::fputs(("\r\033[Kbarracuda: " + text()).c_str(), stderr);
}

void StatusLine::end() {
  if (std::exchange(is_shown_, false)) {
    std::fputs("\r\033[K", stderr);
  }
}

namespace {

void set_timer(suseconds_t microseconds) {
  const timeval every{.tv_sec = 0, .tv_usec = microseconds};
  const itimerval timer{.it_interval = every, .it_value = every};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

// A child has the handler, but no timer.
WaitInterrupts::WaitInterrupts() {
  if (isatty(STDERR_FILENO) == 1) {
    handle_signals(std::array{SIGALRM}, [](int, siginfo_t*, void*) {});
    set_timer(500'000);
  }
}

WaitInterrupts::~WaitInterrupts() {
  set_timer(0);
}

}  // namespace barracuda::cli
