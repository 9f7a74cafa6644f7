// Whether a program that is run again writes to standard output what its plan says. It then writes
// to a pipe, as it would under `| tee`, and a thread of this process passes the bytes on to where
// they were to go.
#pragma once

#include <array>
#include <string>
#include <thread>

#include "base/expected.h"
#include "base/options.h"
#include "base/sha256.h"

namespace barracuda::cli {

// Where the plan that the options name expects nothing, or cannot be read, it does nothing. One
// object at a time; this process's standard output is the pipe until let_go().
class ExpectedOutput {
 public:
  explicit ExpectedOutput(const Options& options);
  ExpectedOutput(const ExpectedOutput&) = delete;
  ExpectedOutput& operator=(const ExpectedOutput&) = delete;
  ~ExpectedOutput();

  // The program was started: it has the pipe.
  void let_go();
  // The program has ended: prints whether its output was another. What a process that it left
  // behind writes later is lost.
  void tell();

 private:
  Expected<void> begin();
  void pass_on();
  void end();

  std::string plan_, sha_;
  int stdout_ = -1;                     // what standard output was, while it is the pipe
  int read_end_ = -1;                   // of the pipe
  std::array<int, 2> stop_ = {-1, -1};  // a byte in it: what is in the pipe is all
  bool is_whole_ = true;                // somebody read it to its end
  std::thread thread_;
  Sha256 sum_;
};

}  // namespace barracuda::cli
