// State of the session that is broken on purpose is found out by an assertion, and what was locked
// meanwhile is not locked afterwards.
#include <catch2/catch.hpp>

#include "host_memory_driver.h"
#include "session/copy_book.h"
#include "session/device_area.h"
#include "session/launch_book.h"
#include "session/stream_tracker.h"
#include "tests/unit/failed_assertion.h"

namespace barracuda::session {
namespace {

using Catch::Contains;
using test::failed_assertion;

TEST_CASE("an area takes back its own descriptors, each once") {
  HostMemoryDriver driver;
  const auto area = DeviceArea::create(driver, Options{}).value();
  const auto other = DeviceArea::create(driver, Options{}).value();
  wire::LaunchDescriptor* const mine = area->acquire(1);
  CHECK_THAT(failed_assertion([&] { other->release(mine); }), Contains("device_area.cpp"));
  CHECK_THAT(failed_assertion([&] { area->release(mine + 5000); }), Contains("device_area.cpp"));
  CHECK(failed_assertion([&] { area->release(mine); }).empty());
  CHECK_THAT(failed_assertion([&] { area->release(mine); }), Contains("device_area.cpp"));
}

TEST_CASE("a launch that was never counted is not taken back") {
  LaunchBook book;
  CHECK_THAT(failed_assertion([&] { book.refused(nullptr, {}); }), Contains("launch_book.cpp"));
  book.count(nullptr, {});
  CHECK(failed_assertion([&] { book.refused(nullptr, {}); }).empty());
  CHECK_THAT(failed_assertion([&] { (void)book.record(detector::LaunchId{1}); }),
             Contains("launch_book.cpp"));
}

TEST_CASE("a call that never was has no record") {
  const CopyBook book;
  CHECK_THAT(failed_assertion([&] { (void)book.record(detector::CallId{0}); }),
             Contains("copy_book.h"));
}

TEST_CASE("a node of a graph that waits for a later one leaves no lock behind") {
  StreamTracker streams;
  const std::vector<GraphStep> steps = {{.work = detector::LaunchId{1}, .dependencies = {1}},
                                        {.work = detector::LaunchId{2}, .dependencies = {}}};
  CHECK_THAT(
      failed_assertion([&] { (void)streams.graph_launch(detector::kLegacyStream, 1, steps); }),
      Contains("stream_tracker.cpp"));
  CHECK(streams.number_of(streams.key_of(Handle{0x1000})) == 1);  // it would wait for ever
}

TEST_CASE("a kernel's handle that means another kernel is not valid") {
  ProgramImage image;
  image.text = "text";
  image.kernels = {ptx::Kernel{.name = "one"}};
  const auto module = std::make_shared<LoadedModule>(LoadedModule{.image = &image});
  KernelBinding binding{.module = module, .kernel = image.find_kernel("one"), .name = "one"};
  CHECK(binding.is_valid());
  binding.name = "other";
  CHECK_FALSE(binding.is_valid());
}

}  // namespace
}  // namespace barracuda::session
