#include "base/assert.h"

#include <csignal>
#include <future>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/held_lock.h"
#include "base/log.h"
#include "tests/unit/failed_assertion.h"

namespace barracuda {
namespace {

using test::failed_assertion;

TEST_CASE("a failed assertion tells the handler its condition and its place") {
  const int answer = 41;
  const std::string failed = failed_assertion([&] { ASSERT(answer == 42); });
  CHECK_THAT(failed, Catch::StartsWith("answer == 42 at ") &&
                         Catch::Contains("tests/unit/base/assert_test.cpp:"));
  CHECK(failed_assertion([&] { ASSERT(answer == 41); }).empty());
}

TEST_CASE("a debug assertion is checked in debug builds, and elsewhere not even evaluated") {
  int evaluated = 0;
  const auto fails = [&evaluated] {
    ++evaluated;
    return false;
  };
  const std::string failed = failed_assertion([&] { DEBUG_ASSERT(fails()); });
#ifdef NDEBUG
  CHECK(failed.empty());
  CHECK(evaluated == 0);
#else
  CHECK_THAT(failed, Catch::StartsWith("fails()"));
  CHECK(evaluated == 1);
#endif
}

TEST_CASE("without a handler, and after one that returns, a failed assertion aborts") {
  const AssertionHandler handler = GENERATE(AssertionHandler{nullptr}, [](const char*) {});
  const pid_t child = fork();
  if (child == 0) {
    set_assertion_handler(handler);
    (void)std::signal(SIGABRT, SIG_DFL);  // Catch2's would say that a test has failed
    (void)close(STDERR_FILENO);
    ASSERT(child != 0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
}

TEST_CASE("a failed assertion releases what its thread has locked, and nobody else's") {
  std::mutex outer, inner, other;
  const std::lock_guard others(other);
  const std::string failed = failed_assertion([&] {
    const HeldLock one(outer);
    const HeldLock two(inner);
    ASSERT(false);
  });
  CHECK_FALSE(failed.empty());
  for (std::mutex* const mutex : {&outer, &inner}) {
    REQUIRE(mutex->try_lock());
    mutex->unlock();
  }
  {
    const HeldLock again(outer);
    CHECK_FALSE(std::async(std::launch::async, [&] { return outer.try_lock(); }).get());
  }
  CHECK_FALSE(std::async(std::launch::async, [&] { return other.try_lock(); }).get());
}

TEST_CASE("a folder that is none has no name") {
  const auto none = static_cast<Folder>(kFolderCount);
  CHECK_THAT(failed_assertion([&] { (void)name_of(none); }), Catch::Contains("base/log.cpp"));
}

}  // namespace
}  // namespace barracuda
