// What a failed assertion in the detection thread leaves: a thread that stands still, as preload/
// leaves it on a GPU, and nobody who waits for it.
#include <chrono>
#include <future>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/assert.h"
#include "tests/unit/host_detector/ring_writer.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr std::chrono::seconds kPatience{60};

struct Broken : Observer {
  void record_applied(LaunchId, std::span<const std::byte> record) override {
    ASSERT(record.empty());
  }
};

WarpOperation write_to(std::uint64_t address) {
  WarpOperation made;
  made.kind = RecordKind::kScattered;
  made.launch = LaunchId{1};
  made.mask = 1;
  made.lanes[0].address = address;
  return made;
}

}  // namespace

TEST_CASE("neither the device nor the program waits for detection that has failed") {
  constexpr std::uint32_t kSlotsLog2 = 7;
  set_assertion_handler([](const char*) {
    while (true) {
      pause();
    }
  });
  // Never destroyed: that would wait for the thread. Static, so that they do not count as leaked.
  static auto* const broken = new Broken;
  static auto* const memory = new RingMemory(1, kSlotsLog2);
  static auto* const pipeline =
      new Pipeline({.detector = {}, .max_queued_bytes = 4096, .observer = broken});
  pipeline->add_queues(memory->set());
  const std::vector<SiteInfo> sites = {word(Operation::kWrite)};
  pipeline->add_sites(SiteId{0}, sites);
  LaunchInfo launch{.id = LaunchId{1}};
  pipeline->begin_launch(launch);
  const auto program = std::async(std::launch::async, [&] {
    RingWriter writer(*memory, 0);
    for (std::uint32_t round = 0; round < 100U << kSlotsLog2; ++round) {
      writer.write(write_to(kData + round * 4));
    }
    CHECK(pipeline->wait_for(LaunchId{1}, kPatience));
    pipeline->end_launch(LaunchId{1});
    pipeline->forget(kData, 4);
    CHECK(pipeline->statistics().records != 0);
    CHECK(pipeline->findings_so_far().races.empty());
    launch.id = LaunchId{2};
    pipeline->begin_launch(launch);
  });
  CHECK(program.wait_for(kPatience) == std::future_status::ready);
  set_assertion_handler(nullptr);
}

}  // namespace barracuda::detector::test
