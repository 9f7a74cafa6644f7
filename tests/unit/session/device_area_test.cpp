#include "session/device_area.h"

#include <set>

#include <catch2/catch.hpp>

#include "device_logger/order_number.h"
#include "host_memory_driver.h"

namespace barracuda::session {
namespace {

TEST_CASE("a GPU gets more queues than it has multiprocessors, the emulated device few") {
  HostMemoryDriver driver;
  const Options options;
  CHECK(DeviceArea::create(driver, options).value()->queues().queue_count == 158);
  driver.emulated = true;
  CHECK(DeviceArea::create(driver, options).value()->queues().queue_count == 4);
  Options chosen;
  chosen.queues = 7;
  CHECK(DeviceArea::create(driver, chosen).value()->queues().queue_count == 7);
}

TEST_CASE("a descriptor names the whole area") {
  HostMemoryDriver driver;
  Options options;
  options.queues = 5;
  options.queue_slots = 256;
  const auto area = DeviceArea::create(driver, options).value();
  const wire::LaunchDescriptor& descriptor = *area->acquire(0x54321);
  CHECK(descriptor.version == wire::kProtocolVersion);
  CHECK(descriptor.launch == 0x4321);
  CHECK(descriptor.queue_count == 5);
  CHECK(descriptor.slots_log2 == 8);
  CHECK(driver.blocks.at(descriptor.rings) == 5 * 256 * wire::kSlotBytes);
  CHECK(driver.blocks.at(descriptor.heads) == 5 * wire::kHeadStride);
  CHECK(driver.blocks.at(descriptor.read_positions) == 5 * wire::kReadPositionStride);
  CHECK(driver.blocks.at(descriptor.order_counters) == wire::kOrderCounters * 4);
  CHECK(reinterpret_cast<std::uint64_t>(area->queues().rings) == descriptor.rings);
}

TEST_CASE("a descriptor says how records are committed") {
  HostMemoryDriver driver;
  Options options;
  options.commit = "self-validating";
  CHECK(DeviceArea::create(driver, options).value()->acquire(1)->commit_mode ==
        wire::CommitMode::kSelfValidating);
  options.commit = "fence-and-flag";
  CHECK(DeviceArea::create(driver, options).value()->acquire(1)->commit_mode ==
        wire::CommitMode::kFenceAndFlag);
}

TEST_CASE("a seeded schedule has one long queue whose claims do not depend on the host") {
  HostMemoryDriver driver;
  Options options;
  options.seed = 3;
  options.queues = 7;
  CHECK(DeviceArea::create(driver, options).value()->acquire(1)->steady_claims == 0);
  driver.emulated = true;
  const auto area = DeviceArea::create(driver, options).value();
  CHECK(area->queues().queue_count == 1);
  CHECK(area->queues().slots_log2 == 21);
  CHECK(area->acquire(1)->steady_claims == 1);
}

TEST_CASE("descriptors in use are all different, and one that is given back is used again") {
  HostMemoryDriver driver;
  Options options;
  options.queue_slots = 128;
  const auto area = DeviceArea::create(driver, options).value();
  std::set<wire::LaunchDescriptor*> taken;
  for (std::uint32_t launch = 1; launch <= 3000; ++launch) {
    taken.insert(area->acquire(launch));
  }
  CHECK(taken.size() == 3000);
  wire::LaunchDescriptor* const first = *taken.begin();
  area->release(first);
  CHECK(area->acquire(9) == first);
  CHECK(first->launch == 9);
}

TEST_CASE("memory that cannot be had is an error that names the options, and nothing leaks") {
  HostMemoryDriver driver;
  driver.limit = 1 << 20;
  const auto area = DeviceArea::create(driver, Options{});
  REQUIRE_FALSE(area);
  CHECK(area.error().message.find("queue-slots") != std::string::npos);
  CHECK(driver.blocks.empty());
}

TEST_CASE("an area gives all its memory back") {
  HostMemoryDriver driver;
  {
    const auto area = DeviceArea::create(driver, Options{}).value();
  }
  CHECK(driver.blocks.empty());
}

TEST_CASE("the number of slots is a power of two from 128") {
  HostMemoryDriver driver;
  for (const std::uint64_t slots : {0, 64, 129, 1000}) {
    Options options;
    options.queue_slots = slots;
    CHECK_FALSE(DeviceArea::create(driver, options));
  }
}

}  // namespace
}  // namespace barracuda::session
