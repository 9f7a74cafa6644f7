#include "session/launch_watch.h"

#include <future>

#include <catch2/catch.hpp>

#include "host_memory_driver.h"
#include "tests/unit/host_detector/manual_clock.h"

namespace barracuda::session {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeout{10};
constexpr std::chrono::seconds kLong{20};

// Launches of a stream that never rests, and what the watch says of them.
struct Watched {
  HostMemoryDriver driver;
  detector::test::ManualClock clock;
  std::promise<WatchedLaunch> promise;
  std::future<WatchedLaunch> found = promise.get_future();
  LaunchWatch watch{driver, kTimeout,
                    [this](const WatchedLaunch& launch) { promise.set_value(launch); },
                    [this] { return clock.now(); }};

  [[nodiscard]] bool finds_none_in(milliseconds time) {
    return clock.pass(time) && found.wait_for(milliseconds{0}) == std::future_status::timeout;
  }

  void launch(const char* kernel, std::uint32_t id) {
    const Mark begin = watch.before(Handle{1});
    watch.after(begin, Handle{1}, {.kernel = kernel, .id = detector::LaunchId{id}});
  }
};

TEST_CASE("a launch that has begun and does not end is found, and no other") {
  Watched watched;
  watched.launch("first", 1);
  watched.launch("second", 2);
  watched.driver.passed = 3;  // the first is over, the second has begun
  watched.launch("third", 3);
  CHECK(watched.finds_none_in(kTimeout));
  watched.clock.advance(milliseconds{1});
  REQUIRE(watched.found.wait_for(kLong) == std::future_status::ready);
  const WatchedLaunch launch = watched.found.get();
  CHECK(launch.kernel == "second");
  CHECK(launch.id == detector::LaunchId{2});
}

TEST_CASE("what waits for its turn does not run, and what is over is forgotten") {
  Watched watched;
  watched.launch("over", 1);
  watched.driver.passed = 2;
  watched.launch("waiting", 2);
  CHECK(watched.finds_none_in(100 * kTimeout));
  CHECK(watched.driver.released == 2);
}

TEST_CASE("a context that ends takes its launches along") {
  Watched watched;
  watched.launch("running", 1);
  watched.driver.passed = 1;
  watched.watch.forget(watched.driver.current_context());
  CHECK(watched.driver.released == 2);
  watched.launch("waiting", 2);  // so that somebody looks
  CHECK(watched.finds_none_in(100 * kTimeout));
}

}  // namespace
}  // namespace barracuda::session
