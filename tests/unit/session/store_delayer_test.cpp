#include "session/store_delayer.h"

#include <catch2/catch.hpp>

#include "host_memory_driver.h"

namespace barracuda::session {
namespace {

Options delaying() {
  Options options;
  options.delay_stores = "0.5";
  options.weak_seed = 7;
  return options;
}

const detector::Dim3 kGrid{4, 2, 1}, kBlock{32, 2, 1};
constexpr detector::StreamKey kStream{5};

}  // namespace

TEST_CASE("stores are delayed by rewriting on a GPU, or where that is asked for") {
  Options options;
  CHECK_FALSE(rewrites_stores(options, false));
  options.delay_stores = "0.5";
  CHECK(rewrites_stores(options, false));
  CHECK_FALSE(rewrites_stores(options, true));
  options.delay_levels = "rewrite";
  CHECK(rewrites_stores(options, true));
}

TEST_CASE("a launch gets the options and a buffer for each of its threads") {
  HostMemoryDriver driver;
  Problems problems;
  Options options = delaying();
  options.delay_spaces = "shared";
  const auto delayer = StoreDelayer::create(options, driver, problems).value();
  const wire::LaunchDescriptor* const taken = delayer->begin("k", kGrid, kBlock, kStream);
  REQUIRE(taken != nullptr);
  const wire::StoreDelays& delays = taken->store_delays;
  CHECK(delays.seed == 7);
  CHECK(delays.threshold == std::uint64_t{1} << 31);
  CHECK(delays.capacity == 32);
  CHECK(delays.spaces == wire::kDelaysShared);
  CHECK(delays.blocks == 8);
  CHECK(driver.blocks.at(delays.arena) >= 8 * 64 * wire::store_buffer_bytes(32));
  CHECK(problems.sentences().empty());
  const wire::LaunchDescriptor* const next = delayer->begin("k", kGrid, kBlock, kStream);
  CHECK(next->store_delays.launch != delays.launch);
}

TEST_CASE("launches of one stream share an arena, those of another have one of their own") {
  HostMemoryDriver driver;
  Problems problems;
  const auto delayer = StoreDelayer::create(delaying(), driver, problems).value();
  const auto* const first = delayer->begin("k", kGrid, kBlock, kStream);
  const auto* const second = delayer->begin("k", kGrid, kBlock, kStream);
  const auto* const other = delayer->begin("k", kGrid, kBlock, detector::StreamKey{6});
  CHECK(first != second);
  CHECK(first->store_delays.arena == second->store_delays.arena);
  CHECK(first->store_delays.arena != other->store_delays.arena);
  const std::uint64_t small = first->store_delays.arena;
  const auto* const large = delayer->begin("k", {1000, 1, 1}, {1024, 1, 1}, kStream);
  CHECK(large->store_delays.arena != small);
  CHECK(driver.blocks.contains(small));  // the launches before it use it still
}

TEST_CASE("a descriptor is used again when its launch is over") {
  HostMemoryDriver driver;
  Problems problems;
  const auto delayer = StoreDelayer::create(delaying(), driver, problems).value();
  const auto* const first = delayer->begin("k", kGrid, kBlock, kStream);
  delayer->submitted(first, {});
  CHECK(delayer->begin("k", kGrid, kBlock, kStream) != first);
  driver.passed = driver.marks.load();
  CHECK(delayer->begin("k", kGrid, kBlock, kStream) == first);
  CHECK(driver.released == 1);
  delayer->close(Handle{1});
  CHECK(driver.blocks.empty());
}

TEST_CASE("blocks that find no memory run undelayed and are named") {
  HostMemoryDriver driver;
  Problems problems;
  Options options = delaying();
  options.delay_capacity = 4096;  // a GPU's buffers hold 256 at most
  const auto delayer = StoreDelayer::create(options, driver, problems).value();
  const std::uint64_t per_block = 1024 * wire::store_buffer_bytes(256);
  driver.limit = std::size_t{1} << 25;
  const auto* const some = delayer->begin("k", {1000, 1, 1}, {1024, 1, 1}, kStream);
  REQUIRE(problems.sentences().size() == 1);
  CHECK(problems.sentences()[0].find("997 of 1000 blocks ran without") != std::string::npos);
  REQUIRE(some != nullptr);
  CHECK(some->store_delays.blocks == 3);
  CHECK(driver.blocks.at(some->store_delays.arena) >= 3 * per_block);
  driver.limit = 0;
  CHECK(delayer->begin("k", {1, 1, 1}, {1024, 1, 1}, detector::StreamKey{6}) == nullptr);
}

TEST_CASE("only the kernels of delay-kernel delay their stores") {
  HostMemoryDriver driver;
  Problems problems;
  Options options = delaying();
  options.delay_kernel = "kne=wanted";
  const auto delayer = StoreDelayer::create(options, driver, problems).value();
  CHECK(delayer->begin("other", kGrid, kBlock, kStream) == nullptr);
  CHECK(delayer->begin("wanted", kGrid, kBlock, kStream) != nullptr);
}

}  // namespace barracuda::session
