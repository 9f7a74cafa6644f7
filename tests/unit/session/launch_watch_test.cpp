#include "session/launch_watch.h"

#include <future>

#include <catch2/catch.hpp>

#include "host_memory_driver.h"

namespace barracuda::session {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeout{100};
constexpr std::chrono::seconds kLong{20};

// Launches of a stream that never rests, and what the watch says of them.
struct Watched {
  HostMemoryDriver driver;
  std::promise<WatchedLaunch> promise;
  std::future<WatchedLaunch> found = promise.get_future();
  LaunchWatch watch{driver, kTimeout,
                    [this](const WatchedLaunch& launch) { promise.set_value(launch); }};

  void launch(const char* kernel, std::uint32_t id) {
    const Mark begin = watch.before(1);
    watch.after(begin, 1, {.kernel = kernel, .id = detector::LaunchId{id}});
  }
};

TEST_CASE("a launch that has begun and does not end is found, and no other") {
  Watched watched;
  watched.launch("first", 1);
  watched.launch("second", 2);
  watched.driver.passed = 3;  // the first is over, the second has begun
  watched.launch("third", 3);
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
  CHECK(watched.found.wait_for(3 * kTimeout) == std::future_status::timeout);
  CHECK(watched.driver.released == 2);
}

TEST_CASE("a context that ends takes its launches along") {
  Watched watched;
  watched.launch("running", 1);
  watched.driver.passed = 1;
  watched.watch.forget(watched.driver.current_context());
  CHECK(watched.found.wait_for(3 * kTimeout) == std::future_status::timeout);
  CHECK(watched.driver.released == 2);
}

}  // namespace
}  // namespace barracuda::session
