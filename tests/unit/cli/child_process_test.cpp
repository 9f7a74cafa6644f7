#include "cli/child_process.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

const std::vector<std::string> kEnvironment = {"PATH=/usr/bin:/bin", "GREETING=hello"};

int status_of(const std::vector<std::string>& words) {
  auto child = ChildProcess::start(words, kEnvironment);
  REQUIRE(child.has_value());
  return child->wait([] {});
}

TEST_CASE("a program's exit status is kept") {
  CHECK(status_of({"true"}) == 0);
  CHECK(status_of({"sh", "-c", "exit 7"}) == 7);
}

TEST_CASE("a program that a signal ended has the status that a shell gives") {
  CHECK(status_of({"sh", "-c", "kill -KILL $$"}) == 128 + SIGKILL);
}

TEST_CASE("a program gets its arguments and environment") {
  CHECK(status_of({"sh", "-c", "test \"$GREETING $1\" = 'hello a b'", "sh", "a b"}) == 0);
}

TEST_CASE("a program that cannot be started says why") {
  const ScratchFolder folder;
  auto missing = ChildProcess::start({folder / "missing"}, kEnvironment);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().status == 127);
  CHECK(missing.error().message == (folder / "missing") + ": No such file or directory");
  REQUIRE(write_file(folder / "data", "text").has_value());
  auto data = ChildProcess::start({folder / "data"}, kEnvironment);
  REQUIRE_FALSE(data.has_value());
  CHECK(data.error().status == 126);
}

TEST_CASE("a signal goes on to the program, which may handle it") {
  const ScratchFolder folder;
  const std::string ready = folder / "ready";
  auto child = ChildProcess::start(
      {"sh", "-c", "trap 'exit 5' USR1; touch " + ready + "; while :; do sleep 0.01; done"},
      kEnvironment);
  REQUIRE(child.has_value());
  while (!std::filesystem::exists(ready)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(getpid(), SIGUSR1);
  CHECK(child->wait([] {}) == 5);
}

TEST_CASE("who waits for a program has time for other things, and does not come late") {
  auto child = ChildProcess::start({"sh", "-c", "sleep 0.7"}, kEnvironment);
  REQUIRE(child.has_value());
  int times = 0;
  CHECK(child->wait([&times] { ++times; }) == 0);
  CHECK(times >= 2);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    CHECK(status_of({"true"}) == 0);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
}

TEST_CASE("SIGUSR2 is a question to us, and does not reach the program") {
  auto child = ChildProcess::start({"sleep", "0.3"}, kEnvironment);
  REQUIRE(child.has_value());
  const int before = ChildProcess::questions();
  kill(getpid(), SIGUSR2);
  CHECK(child->wait([] {}) == 0);
  CHECK(ChildProcess::questions() == before + 1);
}

TEST_CASE("orphans are waited for while they are wanted") {
  const ScratchFolder folder;
  const std::string done = folder / "done";
  CHECK(status_of({"sh", "-c", "(sleep 0.2; touch " + done + ") & exit 3"}) == 3);
  ChildProcess::wait_for_orphans([&done] { return !std::filesystem::exists(done); }, [] {});
  CHECK(std::filesystem::exists(done));
  ChildProcess::wait_for_orphans([] { return true; }, [] {});  // no children left: returns
}

}  // namespace
}  // namespace barracuda::cli
