#include "device_logger/quiet_sites.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/pipeline_records.h"

namespace barracuda::detector::test {

TEST_CASE("kernels see which sites have raced often enough, while they run") {
  std::vector<std::uint32_t> quiet(wire::kQuietWords);
  Running running(2, 7, {.race_limit = 10});
  RingMemory more(1, 7);
  QueueSet queues = more.set();
  queues.quiet_sites = reinterpret_cast<std::byte*>(quiet.data());
  running.pipeline.add_queues(queues);
  running.pipeline.begin_launch(launch_of(1, 2));
  RingWriter writer(more, 0);
  const auto race = [&](std::uint64_t address) {
    writer.write(access(kWriteSite, 0, address));
    writer.write(access(kWriteSite, 1, address));
  };
  const auto has_gone_quiet = [&](Site site) {
    return (std::atomic_ref(quiet[0]).load() >> site & 1) != 0;
  };
  for (std::uint64_t i = 0; i < 9; ++i) {
    race(kData + 4 * i);
  }
  while (running.pipeline.statistics().records < 18) {
    std::this_thread::yield();
  }
  CHECK_FALSE(has_gone_quiet(kWriteSite));
  race(kData + 4 * 9);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!has_gone_quiet(kWriteSite) && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  CHECK(has_gone_quiet(kWriteSite));
  CHECK_FALSE(has_gone_quiet(kReadSite));
  running.pipeline.remove_queues(queues.rings);
}

}  // namespace barracuda::detector::test
