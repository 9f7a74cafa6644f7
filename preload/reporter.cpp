#include "preload/reporter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <semaphore.h>
#include <sys/syscall.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

#include "base/assert.h"
#include "base/own_thread.h"
#include "base/signals_blocked.h"
#include "preload/guard.h"
#include "preload/last_thread.h"
#include "preload/process.h"
#include "preload/process_end.h"
#include "report/sentences.h"
#include "report/spool.h"

namespace barracuda::preload {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{100};
// Counts grow without anything new being found.
constexpr std::chrono::seconds kRefreshEvery{5};
// Of the reporter's time, at most this part goes into what is written while the program runs. What
// is not used of it is kept, up to a limit: a first finding has to look up lines in large files,
// and the next ones, which mostly come with it, would wait twenty times as long.
constexpr int kPart = 20;
constexpr std::chrono::nanoseconds kMostKept = std::chrono::milliseconds(500);

// All that end a process by default; those of the first line are faults, which come back when a
// handler returns.
constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
constexpr std::array kSignals = {SIGSEGV, SIGBUS,    SIGILL,  SIGFPE,  SIGTRAP, SIGSYS,    SIGABRT,
                                 SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,   SIGPIPE,
                                 SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGSTKFLT, SIGPWR};
struct sigaction g_previous[std::size(kSignals)];

constexpr bool is_a_set(auto signals) {
  std::ranges::sort(signals);
  return std::ranges::adjacent_find(signals) == signals.end();
}

static_assert(is_a_set(kSignals), "of a signal's second row the handler before it would be ours");
static_assert(std::ranges::all_of(kFaults, [](int fault) {
  return std::ranges::find(kSignals, fault) != kSignals.end();
}));

// In place of a signal's number.
constexpr int kNothing = 0;
constexpr int kExitCall = -1;
constexpr int kExecCall = -2;
static_assert(std::ranges::all_of(kSignals, [](int signal) { return signal > kNothing; }) &&
              is_a_set(std::array{kNothing, kExitCall, kExecCall}));

// The handler does what a signal handler may: it posts a semaphore and looks at atomics.
sem_t g_wake;
std::atomic<int> g_request = kNothing;
std::atomic<bool> g_done = false;  // what was requested
std::atomic<std::int64_t> g_requested_at = 0;
constexpr int kOwnStatus = -1;
std::atomic<int> g_exit_status = kOwnStatus;  // to leave _exit with
std::atomic<pid_t> g_process = 0;             // a forked child has no reporter
std::atomic<detector::LaunchId> g_deadlocked{};
std::atomic<bool> g_has_news = false;  // since it was looked at last
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free &&
                  std::atomic<pid_t>::is_always_lock_free,
              "a handler must not wait for a lock that the interrupted thread holds");

constexpr timespec kWaitSlice{.tv_sec = 0, .tv_nsec = 5'000'000};
constexpr int kSlicesASecond = 200;
constexpr int kFaultPatience = 20 * kSlicesASecond;
constexpr int kSignalPatience = kSlicesASecond;

bool is_fault(int signal) {
  return std::ranges::find(kFaults, signal) != kFaults.end();
}

const struct sigaction& previous_of(int signal) {
  return g_previous[std::ranges::find(kSignals, signal) - kSignals.begin()];
}

void set_default(int signal) {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  (void)sigaction(signal, &standard, nullptr);
}

// From the reporter, which has all signals blocked.
[[noreturn]] void die_by(int signal) {
  set_default(signal);
  sigset_t only;
  (void)sigemptyset(&only);
  (void)sigaddset(&only, signal);
  (void)raise(signal);
  (void)pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  leave(report::status_of_signal(signal));  // not reached, but for a signal that a debugger keeps
}

// Reports, and leaves with the status of what was found. Returns where nothing was: then the signal
// is to do what it does.
void end_by(int signal, const std::string& reason, GapIs gap) {
  if (const auto status = finish_killed_process(signal, reason, gap)) {
    leave_at_once(*status);
  }
}

// What is found, brought to where it is safe.
class Updates {
 public:
  void look() {
    const session::Session* const session = existing_session();
    const auto now = steady_clock::now();
    if (session == nullptr || now < next()) {
      return;
    }
    g_has_news = false;  // what is found from here on wakes again
    if (!updates_are_wanted()) {
      return;
    }
    const std::uint64_t changes = session->finding_changes();
    if (changes == seen_ && now - last_ < kRefreshEvery) {
      return;
    }
    seen_ = changes;
    const bool is_over = update_report();
    allowance_ = std::min(kMostKept, allowance_ + (now - last_) / kPart);
    last_ = steady_clock::now();
    allowance_ -= last_ - now;
    if (is_over) {
      finish_without_device();
    }
  }

  // How long to sleep before the next look. News that came too soon after the last ones wait for
  // their time, and wake nobody again.
  [[nodiscard]] std::chrono::nanoseconds pause() const {
    const std::chrono::nanoseconds left = next() - steady_clock::now();
    return g_has_news && left < kLookEvery ? std::max(left, std::chrono::nanoseconds(0))
                                           : kLookEvery;
  }

 private:
  // When something may be written again.
  [[nodiscard]] steady_clock::time_point next() const {
    return last_ + std::max(-allowance_, std::chrono::nanoseconds(0)) * kPart;
  }

  std::uint64_t seen_ = 0;
  std::chrono::nanoseconds allowance_ = kMostKept;  // below 0 while nothing may be written
  steady_clock::time_point last_ = steady_clock::now();
};

void enforce_time_limit(steady_clock::time_point start) {
  const std::uint64_t limit = process_options().time_limit;
  if (limit == 0 || steady_clock::now() - start < std::chrono::seconds(limit) ||
      !report::run_directory().empty()) {  // then it is for `run` to enforce, for its whole tree
    return;
  }
  end_by(SIGTERM, report::ended_by_limit("the process", limit), GapIs::kAlways);
  die_by(SIGTERM);
}

void look_at_deadlock() {
  const detector::LaunchId launch = g_deadlocked.exchange(detector::LaunchId{});
  if (launch == detector::LaunchId{}) {
    return;
  }
  if (process_options().at_deadlock == "end") {
    finish_without_device();
  }
  HookScope::protect(Loss::kCoverage, [launch] {
    ASSERT(existing_session() != nullptr);  // whose detector found the deadlock
    existing_session()->end_launch(launch);
  });
}

void serve(int request) {
  if (request == kExitCall) {
    g_exit_status = finish_at_exit_call(g_exit_status).value_or(kOwnStatus);
  } else if (request == kExecCall) {
    finish_before_exec();
  } else {
    end_by(request, report::ended_by_signal(request), GapIs::kWhatIsUnderWay);
    if (!is_fault(request) && request != SIGABRT) {
      die_by(request);
    }
  }
  g_done = true;
}

// As libc does in a process's last thread; in a thread of its own, for exit handlers may take their
// time, and the program may be killed meanwhile.
void end_after_last_thread() {
  static bool g_has_begun = false;
  if (std::exchange(g_has_begun, true)) {
    return;
  }
  std::thread([] {
    sigset_t none;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, nullptr);
    std::exit(0);
  }).detach();
}

void report() {
  name_own_thread();
  const auto start = steady_clock::now();
  Updates updates;
  while (true) {
    timespec until{};
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += updates.pause().count();
    constexpr long kSecond = 1'000'000'000;
    until.tv_sec += until.tv_nsec / kSecond;
    until.tv_nsec %= kSecond;
    (void)sem_timedwait(&g_wake, &until);
    if (const int request = g_request; request != kNothing && !g_done) {
      serve(request);
      continue;
    }
    look_at_deadlock();
    updates.look();
    if (only_own_threads_are_left()) {
      end_after_last_thread();
    }
    enforce_time_limit(start);
  }
}

std::int64_t milliseconds_now() {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Wakes the reporter and waits for it. Only what a signal handler may do. False if it is at work on
// something else.
bool request(int what, int slices) {
  int none = kNothing;
  const bool is_first = g_request.compare_exchange_strong(none, what);
  if (is_first) {
    g_requested_at = milliseconds_now();
    (void)sem_post(&g_wake);
  }
  for (int i = 0; i < slices && !g_done; ++i) {
    (void)nanosleep(&kWaitSlice, nullptr);
  }
  return is_first;
}

void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = previous_of(signal);
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL) {
    set_default(signal);
    if (!is_fault(signal) || info->si_code <= 0) {  // sent, not a fault that comes again
      (void)raise(signal);                          // delivered when this handler returns
    }
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
}

bool program_handles(int signal) {
  const struct sigaction& previous = previous_of(signal);
  return (previous.sa_flags & SA_SIGINFO) != 0 || previous.sa_handler != SIG_DFL;
}

// A signal of a fault's name that somebody sent may interrupt a thread that is at work for the
// tool, whose locks the report needs, or a thread of the tool's own. It stays blocked in that
// thread, and is sent again: to the thread, for when its work is over, or to the process, for
// another to take. What abort() and raise() send is not held back: the thread does not go on.
bool hold_back(int signal, siginfo_t* info, void* context) {
  if (info->si_code != SI_USER && info->si_code != SI_QUEUE) {
    return false;
  }
  if (is_own_thread()) {
    (void)syscall(SYS_rt_sigqueueinfo, getpid(), signal, info);
  } else if (SignalsBlocked::hold_here()) {
    (void)syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info);
  } else {
    return false;
  }
  (void)sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
  return true;
}

// The program's own handler may well go on, or leave by exit(): then the report comes at the end.
// abort() ends the process whatever its handler does.
void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  if ((program_handles(signal) && signal != SIGABRT) || g_process != getpid()) {
    errno = saved;
    chain(signal, info, context);
    return;
  }
  if (is_fault(signal) || signal == SIGABRT) {
    if (!hold_back(signal, info, context)) {
      (void)request(signal, kFaultPatience);
      chain(signal, info, context);
    }
  } else {
    constexpr std::int64_t kImpatience = 1000;
    const bool is_first = request(signal, kSignalPatience);
    if (!is_first && milliseconds_now() - g_requested_at > kImpatience) {
      chain(signal, info, context);  // the user asks again
    }
  }
  errno = saved;
}

void catch_signals() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    (void)sigaction(kSignals[i], nullptr, &g_previous[i]);
    if (g_previous[i].sa_handler == SIG_IGN ||
        (kSignals[i] != SIGABRT && program_handles(kSignals[i]))) {
      continue;
    }
    struct sigaction ours{};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    (void)sigemptyset(&ours.sa_mask);
    (void)sigaction(kSignals[i], &ours, nullptr);
  }
}

}  // namespace

void start_reporter() {
  if (g_process.exchange(getpid()) != 0 || sem_init(&g_wake, 0, 0) != 0) {
    return;
  }
  {
    const SignalsBlocked for_the_reporter;
    std::thread(report).detach();
  }
  catch_signals();
}

void report_deadlock(detector::LaunchId launch) {
  DEBUG_ASSERT(launch != detector::LaunchId{});  // which says that there is none
  g_deadlocked = launch;
}

void report_news() {
  if (!g_has_news.exchange(true)) {
    (void)sem_post(&g_wake);
  }
}

void report_before_kill() {
  if (g_process == getpid()) {
    (void)request(SIGKILL, kFaultPatience);
  }
}

int report_before_exit(int status) {
  if (g_process != getpid()) {
    return status;
  }
  g_exit_status = status;
  (void)request(kExitCall, kFaultPatience);
  return g_done && g_exit_status != kOwnStatus ? g_exit_status.load() : status;
}

void report_before_exec() {
  if (g_process == getpid()) {
    (void)request(kExecCall, kFaultPatience);
  }
}

void report_after_failed_exec() {
  if (g_process == getpid() && g_request == kExecCall) {
    exec_failed();
    g_done = false;
    g_request = kNothing;
  }
}

}  // namespace barracuda::preload
