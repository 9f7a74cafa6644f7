#include "preload/signals.h"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>

#include "preload/process.h"

namespace barracuda::preload {
namespace {

constexpr int kSignals[] = {SIGABRT, SIGINT, SIGTERM};
struct sigaction g_previous[std::size(kSignals)];

// The handler does what a signal handler may: it posts a semaphore and looks at atomics.
sem_t g_wake;
std::atomic<int> g_signal = 0;
std::atomic<bool> g_written = false;
std::atomic<pid_t> g_process = 0;  // a forked child has no writer

// The report takes locks that the interrupted thread may hold: it is waited for, but not for ever.
constexpr int kWaitSlices = 500;
constexpr timespec kWaitSlice{.tv_sec = 0, .tv_nsec = 10'000'000};

void write_report() {
  while (sem_wait(&g_wake) != 0) {
  }
  finish_killed_process(g_signal);
  g_written = true;
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
  if (ends_process && g_process == getpid() && g_signal.exchange(signal) == 0) {
    (void)sem_post(&g_wake);
    for (int i = 0; i < kWaitSlices && !g_written; ++i) {
      (void)nanosleep(&kWaitSlice, nullptr);
    }
  }
  chain(signal, info, context);
}

}  // namespace

void watch_signals() {
  if (g_process.exchange(getpid()) != 0 || sem_init(&g_wake, 0, 0) != 0) {
    return;
  }
  // The writer takes no signals of the program.
  sigset_t all;
  sigset_t previous_mask;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &previous_mask);
  std::thread(write_report).detach();
  (void)pthread_sigmask(SIG_SETMASK, &previous_mask, nullptr);
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

}  // namespace barracuda::preload
