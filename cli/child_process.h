// Runs one program to its end as a shell would, and passes signals on to it.
#pragma once

#include <csignal>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace barracuda::cli {

// How a program that could not be started ends a shell command: 127 not found, 126 found.
struct StartFailure {
  int status = 0;
  std::string message;
};

// For exec: as long as these are not changed, and a null pointer behind the last.
std::vector<char*> pointers_to(std::vector<std::string>& strings);

// From now on `forward` handles these signals, each while no other one is handled; but those that
// the caller ignores (nohup), for the program is to ignore them too.
void handle_signals(std::span<const int> signals, void (*forward)(int, siginfo_t*, void*));

// The status of waitpid(), as a shell has it.
int shell_status(int wait_status);

class ChildProcess {
 public:
  // Searches PATH. Signals that reach this process go on to the child, once each, until wait() has
  // returned. One child at a time.
  static tl::expected<ChildProcess, StartFailure> start(
      const std::vector<std::string>& words, const std::vector<std::string>& environment);

  [[nodiscard]] int process() const { return process_; }

  // Called now and then while there is something to wait for.
  using Meanwhile = std::function<void()>;

  // The exit status, or 128 + the signal's number.
  [[nodiscard]] int wait(const Meanwhile& meanwhile);

  // Processes that the program has left behind come to us; waits as long as any of them is wanted.
  static void wait_for_orphans(const std::function<bool()>& is_wanted, const Meanwhile& meanwhile);

  // To the program, and to its process group if it has one of its own.
  void send(int signal) const;

  // A signal that would have ended the program has come after its end.
  [[nodiscard]] static bool is_interrupted();
  // How often the report so far was asked for, by SIGUSR2.
  [[nodiscard]] static int questions();

 private:
  explicit ChildProcess(int process) : process_(process) {}

  int process_;
};

}  // namespace barracuda::cli
