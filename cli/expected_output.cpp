#include "cli/expected_output.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "base/signals_blocked.h"
#include "cli/complain.h"
#include "session/plan.h"

namespace barracuda::cli {
namespace {

// False: the reader is gone.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void close_if_open(int& file) {
  if (file >= 0) {
    close(file);
    file = -1;
  }
}

}  // namespace

ExpectedOutput::ExpectedOutput(const Options& options) {
  const auto plan = session::read_plan(options);
  const auto expected = plan ? plan->expectation : std::nullopt;
  if (!expected || expected->output_sha.empty()) {
    return;
  }
  plan_ = options.weakness;
  sha_ = expected->output_sha;
  if (auto begun = begin(); !begun) {
    complain(begun.error().to_string());
    end();
  }
}

ExpectedOutput::~ExpectedOutput() {
  let_go();
  end();
}

Expected<void> ExpectedOutput::begin() {
  std::array<int, 2> through = {-1, -1};
  if (pipe2(through.data(), O_CLOEXEC) == 0 && pipe2(stop_.data(), O_CLOEXEC) == 0) {
    stdout_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  }
  read_end_ = through[0];
  const bool is_pipe = stdout_ >= 0 && dup2(through[1], STDOUT_FILENO) >= 0;
  const std::string reason = std::strerror(errno);
  close_if_open(through[1]);
  if (!is_pipe) {
    close_if_open(stdout_);
    return unexpected(
        {.message = plan_ + ": the output cannot be compared with the plan's: " + reason});
  }
  return {};
}

void ExpectedOutput::let_go() {
  if (stdout_ < 0) {
    return;
  }
  (void)dup2(stdout_, STDOUT_FILENO);
  close_if_open(stdout_);
  const SignalsBlocked blocked;  // SIGPIPE too: writing fails then, and the program's does in turn
  thread_ = std::thread([this] {
    pass_on();
    close_if_open(read_end_);
  });
}

// Until every writer is gone, or the program has ended and the pipe is empty.
void ExpectedOutput::pass_on() {
  std::array<char, 65'536> bytes{};
  while (is_whole_) {
    std::array<pollfd, 2> wanted = {pollfd{.fd = read_end_, .events = POLLIN, .revents = 0},
                                    pollfd{.fd = stop_[0], .events = POLLIN, .revents = 0}};
    const bool is_some = poll(wanted.data(), wanted.size(), -1) > 0;
    if (is_some && wanted[0].revents == 0) {
      return;
    }
    const ssize_t count = is_some ? read(read_end_, bytes.data(), bytes.size()) : -1;
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return;
    }
    if (count > 0) {
      const std::string_view some(bytes.data(), static_cast<std::size_t>(count));
      sum_.add(some);
      is_whole_ = write_all(STDOUT_FILENO, some);
    }
  }
}

void ExpectedOutput::end() {
  if (thread_.joinable()) {
    (void)!write(stop_[1], "", 1);
    thread_.join();
  }
  for (int* const file : {&read_end_, &stop_.front(), &stop_.back()}) {
    close_if_open(*file);
  }
}

void ExpectedOutput::tell() {
  const bool was_summed = thread_.joinable();
  end();
  if (!was_summed || !is_whole_) {
    return;
  }
  if (const std::string sha = sum_.hex(); sha != sha_) {
    complain(
        fmt::format("{}: the output is not the one that the plan expects (its SHA-256 is {}, not "
                    "{}): this is not the run of the plan. The program, its input or what it runs "
                    "on has changed since; barracuda expose makes a new plan",
                    plan_, sha, sha_));
  }
}

}  // namespace barracuda::cli
