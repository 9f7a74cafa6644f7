#include "preload/abrupt_end.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <semaphore.h>
#include <thread>
#include <unistd.h>

#include "base/signals_blocked.h"
#include "preload/process.h"

namespace barracuda::preload {
namespace {

constexpr int kSignals[] = {SIGABRT, SIGINT, SIGTERM};
struct sigaction g_previous[std::size(kSignals)];

// In place of a signal's number.
constexpr int kExitCall = -1;

// The handler does what a signal handler may: it posts a semaphore and looks at atomics.
sem_t g_wake;
std::atomic<int> g_signal = 0;
std::atomic<bool> g_written = false;
constexpr int kOwnStatus = -1;
std::atomic<int> g_exit_status = kOwnStatus;  // to leave _exit with
std::atomic<pid_t> g_process = 0;             // a forked child has no writer

// The report takes locks that the interrupted thread may hold: it is waited for, but not for ever.
constexpr int kWaitSlices = 500;
constexpr timespec kWaitSlice{.tv_sec = 0, .tv_nsec = 10'000'000};

void write_report() {
  while (sem_wait(&g_wake) != 0) {
  }
  if (g_signal == kExitCall) {
    g_exit_status = finish_at_exit_call().value_or(kOwnStatus);
  } else {
    finish_killed_process(g_signal);
  }
  g_written = true;
}

// Wakes the writer and waits for it. Only what a signal handler may do.
void wait_for_writer(int reason) {
  int none = 0;
  if (g_signal.compare_exchange_strong(none, reason)) {
    (void)sem_post(&g_wake);
  }
  for (int i = 0; i < kWaitSlices && !g_written; ++i) {
    (void)nanosleep(&kWaitSlice, nullptr);
  }
}

void chain(int signal, siginfo_t* info, void* context) {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal) {
      continue;
    }
    const struct sigaction& previous = g_previous[i];
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
      previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler == SIG_DFL) {
      (void)sigaction(signal, &previous, nullptr);
      (void)raise(signal);  // delivered when this handler returns
    } else if (previous.sa_handler != SIG_IGN) {
      previous.sa_handler(signal);
    }
  }
}

bool program_handles(int signal) {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] == signal) {
      return (g_previous[i].sa_flags & SA_SIGINFO) != 0 || g_previous[i].sa_handler != SIG_DFL;
    }
  }
  return false;
}

// The program's own handler may well go on, or leave by exit(): then the report comes at the end.
void on_signal(int signal, siginfo_t* info, void* context) {
  const bool ends_process = signal == SIGABRT || !program_handles(signal);
  if (ends_process && g_process == getpid()) {
    wait_for_writer(signal);
  }
  chain(signal, info, context);
}

}  // namespace

void watch_abrupt_ends() {
  if (g_process.exchange(getpid()) != 0 || sem_init(&g_wake, 0, 0) != 0) {
    return;
  }
  {
    const SignalsBlocked for_the_writer;
    std::thread(write_report).detach();
  }
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    (void)sigaction(kSignals[i], nullptr, &g_previous[i]);
    if (g_previous[i].sa_handler == SIG_IGN) {
      continue;
    }
    struct sigaction ours{};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    (void)sigemptyset(&ours.sa_mask);
    (void)sigaction(kSignals[i], &ours, nullptr);
  }
}

int report_before_exit(int status) {
  if (g_process != getpid()) {
    return status;
  }
  wait_for_writer(kExitCall);
  return g_written && g_exit_status != kOwnStatus ? g_exit_status.load() : status;
}

}  // namespace barracuda::preload
