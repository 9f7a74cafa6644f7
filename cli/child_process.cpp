#include "cli/child_process.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/race_report.h"

namespace barracuda::cli {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
constexpr timespec kMeanwhileEvery{.tv_sec = 0, .tv_nsec = 200'000'000};

// What the signal handler needs. Set before the handlers are.
std::atomic<pid_t> g_child = 0;
std::atomic<bool> g_child_shares_group = false;
std::atomic<bool> g_interrupted = false;  // by a signal after the program's end
std::atomic<int> g_questions = 0;

// A terminal's Ctrl-C is sent by the kernel to the whole foreground group: a child in our group has
// had it already.
void forward(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  const bool is_from_terminal = info->si_code == SI_KERNEL;
  const pid_t child = g_child.load();
  if (child == 0) {
    g_interrupted = true;
  } else if (!(is_from_terminal && g_child_shares_group.load())) {
    kill(child, signal);
  }
  errno = saved;
}

void note_question(int /*signal*/) {
  ++g_questions;
}

// Until a child ends, a signal comes or some time is over. SIGCHLD is blocked, so that one that has
// come since the last look ends the pause at once.
void pause_for_a_while() {
  sigset_t end_of_a_child;
  (void)sigemptyset(&end_of_a_child);
  (void)sigaddset(&end_of_a_child, SIGCHLD);
  (void)sigtimedwait(&end_of_a_child, nullptr, &kMeanwhileEvery);
}

void answer_questions() {
  struct sigaction action{};
  action.sa_handler = note_question;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR2, &action, nullptr);
}

// What programs start with: this process blocks SIGCHLD from the first of them on.
const sigset_t& signals_blocked_at_first() {
  static const sigset_t blocked = [] {
    sigset_t now;
    sigprocmask(SIG_SETMASK, nullptr, &now);
    return now;
  }();
  return blocked;
}

// In the foreground of a terminal the program has to stay in our group, or it could not read from
// it. Elsewhere it gets a group of its own: a signal to our group then reaches it once, through us.
bool is_terminal_foreground() {
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) {
    return false;
  }
  const pid_t foreground = tcgetpgrp(terminal);
  close(terminal);
  return foreground == getpgrp();
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

// Between fork and exec, and never returns. The pipe closes on success and carries errno on
// failure.
[[noreturn]] void become(char* const* words, char* const* environment, const Pipe& pipe,
                         bool own_group) {
  if (own_group) {
    setpgid(0, 0);
    // If we are killed without a chance to forward the signal, the program must not stay behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  execvpe(words[0], words, environment);
  const int reason = errno;
  (void)!write(pipe.write_end, &reason, sizeof reason);
  _exit(127);
}

StartFailure failure(const std::string& program, int reason) {
  struct stat at{};
  const bool is_folder = stat(program.c_str(), &at) == 0 && S_ISDIR(at.st_mode);
  return {.status = reason == ENOENT ? 127 : 126,
          .message = program + ": " + std::strerror(is_folder ? EISDIR : reason)};
}

}  // namespace

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

void handle_signals(std::span<const int> signals, void (*forward)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  for (const int signal : signals) {
    struct sigaction old{};
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      sigaction(signal, &action, nullptr);
    }
  }
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? report::status_of_signal(WTERMSIG(wait_status))
                                  : WEXITSTATUS(wait_status);
}

tl::expected<ChildProcess, StartFailure> ChildProcess::start(
    const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  std::vector<std::string> own_words = words;
  std::vector<std::string> own_environment = environment;
  const std::vector<char*> word_pointers = pointers_to(own_words);
  const std::vector<char*> environment_pointers = pointers_to(own_environment);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(failure(words.front(), errno));
  }
  const Pipe pipe{.read_end = ends[0], .write_end = ends[1]};
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const bool own_group = !is_terminal_foreground();
  // No signal may arrive between the fork and the handlers that know the child.
  const sigset_t& before = signals_blocked_at_first();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const pid_t process = fork();
  if (process == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(word_pointers.data(), environment_pointers.data(), pipe, own_group);
  }
  const int fork_error = errno;
  g_child = process;
  g_child_shares_group = !own_group;
  if (process > 0) {
    handle_signals(kForwarded, forward);
    answer_questions();
  }
  sigset_t with_sigchld = before;
  sigaddset(&with_sigchld, SIGCHLD);
  sigprocmask(SIG_SETMASK, &with_sigchld, nullptr);
  close(pipe.write_end);
  int reason = process < 0 ? fork_error : 0;
  while (process > 0 && read(pipe.read_end, &reason, sizeof reason) < 0 && errno == EINTR) {
  }
  close(pipe.read_end);
  if (reason != 0) {
    g_child = 0;
    if (process > 0) {
      waitpid(process, nullptr, 0);
    }
    return tl::unexpected(failure(words.front(), reason));
  }
  return ChildProcess(process);
}

int ChildProcess::wait(const Meanwhile& meanwhile) {
  while (true) {
    int status = 0;
    // Not for the child alone: orphans of its children come to us and must not stay zombies.
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended == process_) {
      g_child = 0;
      return shell_status(status);
    }
    if (ended < 0 && errno != EINTR) {
      g_child = 0;
      return 127;
    }
    if (ended == 0) {
      pause_for_a_while();
      meanwhile();
    }
  }
}

void ChildProcess::wait_for_orphans(const std::function<bool()>& is_wanted,
                                    const Meanwhile& meanwhile) {
  while (!g_interrupted && is_wanted()) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno != EINTR) {
      return;
    }
    if (ended == 0) {
      pause_for_a_while();
      meanwhile();
    }
  }
}

void ChildProcess::send(int signal) const {
  kill(g_child_shares_group ? process_ : -process_, signal);
}

bool ChildProcess::is_interrupted() {
  return g_interrupted;
}

int ChildProcess::questions() {
  return g_questions;
}

}  // namespace barracuda::cli
