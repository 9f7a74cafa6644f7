// Runs one program to its end as a shell would, and passes signals on to it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"

namespace barracuda::cli {

// How a program that could not be started ends a shell command: 127 not found, 126 found.
struct StartFailure {
  int status = 0;
  std::string message;
};

class ChildProcess {
 public:
  // Searches PATH. Signals that reach this process go on to the child, once each, until wait() has
  // returned. One child at a time.
  static tl::expected<ChildProcess, StartFailure> start(
      const std::vector<std::string>& words, const std::vector<std::string>& environment);

  [[nodiscard]] int process() const { return process_; }

  // The exit status, or 128 + the signal's number.
  [[nodiscard]] int wait();

  // Processes that the program has left behind come to us; waits as long as any of them is wanted.
  static void wait_for_orphans(const std::function<bool()>& is_wanted);

 private:
  explicit ChildProcess(int process) : process_(process) {}

  int process_;
};

}  // namespace barracuda::cli
