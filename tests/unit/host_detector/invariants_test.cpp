// State that is broken on purpose is found out by an assertion: in every build where the check
// costs nothing, in debug builds wherever something is changed.
#include <array>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "host_detector/clock/warp_state.h"
#include "host_detector/paper/barriers.h"
#include "host_detector/queue/cluster_queue.h"
#include "host_detector/queue/order_counters.h"
#include "host_detector/queue/ring_window.h"
#include "host_detector/shadow/block.h"
#include "host_detector/stream_order.h"
#include "tests/unit/failed_assertion.h"

namespace barracuda::detector {
namespace {

using barracuda::test::failed_assertion;
using Catch::Contains;

// Not inlined: GCC 12 takes the insertion into an empty vector for an overflow.
[[gnu::noinline]] void push_record(ClusterQueue& queue) {
  queue.push(std::vector<std::byte>(wire::kSlotBytes));
}

TEST_CASE("clocks of two CTAs are not joined as one") {
  const CtaClockPointer one(new CtaClock(CtaKey(LaunchId{1}, 0)));
  const CtaClockPointer other(new CtaClock(CtaKey(LaunchId{1}, 1)));
  CHECK_THAT(failed_assertion([&] { (void)joined(one, other); }), Contains("cta_clock.cpp"));
}

TEST_CASE("a queue that still has records does not become another's") {
  OrderCounters counters;
  ClusterQueue queue(LaunchId{1}, 0, counters);
  push_record(queue);
  CHECK_THAT(failed_assertion([&] { queue.reuse(LaunchId{2}, 0, counters); }),
             Contains("cluster_queue.h"));
  queue.pop();
  CHECK(failed_assertion([&] { queue.reuse(LaunchId{2}, 0, counters); }).empty());
}

TEST_CASE("nobody waits for a number that was applied, or as nobody") {
  OrderCounters counters;
  ClusterQueue queue(LaunchId{1}, 0, counters);
  CHECK_THAT(failed_assertion([&] { counters.wait({.counter = 7, .number = 0}, &queue); }),
             Contains("order_counters.cpp"));
  CHECK_THAT(failed_assertion([&] { counters.wait({.counter = 7, .number = 1}, nullptr); }),
             Contains("order_counters.cpp"));
  CHECK(failed_assertion([&] { counters.wait({.counter = 7, .number = 1}, &queue); }).empty());
}

TEST_CASE("a launch is put into a stream once") {
  StreamOrder order;
  (void)order.launch(kLegacyStream, LaunchId{1});
  CHECK_THAT(failed_assertion([&] { (void)order.launch(kLegacyStream, LaunchId{1}); }),
             Contains("stream_order.cpp"));
}

TEST_CASE("more threads do not leave a block of the paper's engine than it has") {
  paper::EngineState engine;
  paper::Barriers barriers(engine);
  const LaunchInfo info{.id = LaunchId{1}, .block = {.x = 64}};
  paper::LaunchState launch(info);
  paper::BlockState& block = *launch.find_block(0);
  const paper::Actor actor{.block = block, .warp = block.warps[0]};
  block.live_threads = 3;
  CHECK_THAT(failed_assertion([&] { barriers.exit(actor, 0xF, 0); }), Contains("barriers.cpp"));
}

#ifndef NDEBUG

TEST_CASE("debug: a lane that has left does not wait") {
  WarpState warp(CtaKey(LaunchId{1}, 0), 0, 0xFF, Clock(CtaKey(LaunchId{1}, 0)));
  warp.exit(1);
  warp.waiting = 1;
  CHECK_FALSE(warp.is_valid());
  CHECK_THAT(failed_assertion([&] { warp.exit(2); }), Contains("is_valid()"));
}

TEST_CASE("debug: a cell that touches nothing comes into no list") {
  WordLists lists;
  CHECK_FALSE(failed_assertion([&] { lists.add(3, Cell{}); }).empty());
  Block block;
  CHECK_THAT(failed_assertion(
                 [&] { block.for_each_history(Cell{}, {.is_recorded = true}, [](auto&&...) {}); }),
             Contains("block.h"));
  SharedAccessSet shared_set(SharedAccessKind::kReads);
  CHECK_THAT(failed_assertion([&] { shared_set.add(Cell{}); }), Contains("shared_access_set.cpp"));
}

TEST_CASE("debug: a batch whose slots are not its bytes is not sorted") {
  RecordBatch batch{.bytes = std::vector<std::byte>(wire::kSlotBytes), .slots = {2}};
  RingWindow window;
  CHECK_THAT(failed_assertion([&] { window.add(std::move(batch)); }), Contains("ring_window.h"));
}

TEST_CASE("debug: the front of an empty queue is no record") {
  OrderCounters counters;
  ClusterQueue queue(LaunchId{1}, 0, counters);
  CHECK_THAT(failed_assertion([&] { (void)queue.front(); }), Contains("is_empty()"));
}

TEST_CASE("debug: words that are not theirs break a block") {
  Block block;
  Cell cell{.bytes = Bytes::upto(4), .lanes = 1};
  const auto record = [](AccessHistory& history, const Cell& part, bool records) {
    if (records) {
      history.cells.push_back(part);
    }
  };
  block.for_each_history(cell, {}, record);
  CHECK(block.is_valid());
  // The warp of the only cell, behind its bytes, value, CTA and four words.
  std::array<std::byte, sizeof(Block)> image;
  std::memcpy(image.data(), static_cast<const void*>(&block), image.size());
  std::byte* const warp = reinterpret_cast<std::byte*>(&block) + 48;
  *warp = std::byte{200};
  CHECK_FALSE(block.is_valid());
  CHECK_FALSE(failed_assertion([&] { block.for_each_history(cell, {}, record); }).empty());
  std::memcpy(static_cast<void*>(&block), image.data(), image.size());
  CHECK(block.is_valid());
}

#endif

}  // namespace
}  // namespace barracuda::detector
