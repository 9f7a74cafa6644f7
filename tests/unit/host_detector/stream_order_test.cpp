#include "host_detector/stream_order.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace barracuda::detector {
namespace {

constexpr StreamKey kOne{11}, kTwo{12}, kFree{13};
constexpr EventKey kEvent{1};

struct Order {
  Order() {
    streams.create_stream(kOne, false);
    streams.create_stream(kTwo, false);
    streams.create_stream(kFree, true);
  }

  LaunchId launch(StreamKey stream) {
    const LaunchId id{++count};
    before.push_back(streams.launch(stream, id));
    return id;
  }

  // `later`, directly or through launches in between.
  [[nodiscard]] bool is_before(LaunchId first, LaunchId later) const {
    return std::ranges::any_of(before[static_cast<std::uint32_t>(later) - 1], [&](WorkId each) {
      return each == first || is_before(first, each.launch());
    });
  }

  StreamOrder streams;
  std::uint32_t count = 0;
  std::vector<std::vector<WorkId>> before;
};

}  // namespace

TEST_CASE("launches of one stream are ordered, and of two are not") {
  Order order;
  const LaunchId a = order.launch(kOne), b = order.launch(kOne), c = order.launch(kTwo);
  CHECK(order.is_before(a, b));
  CHECK_FALSE(order.is_before(b, c));
}

TEST_CASE("the legacy stream waits for blocking streams and they for it, and others do not") {
  Order order;
  const LaunchId one = order.launch(kOne), free = order.launch(kFree);
  const LaunchId legacy = order.launch(kLegacyStream);
  const LaunchId two = order.launch(kTwo), free_after = order.launch(kFree);
  CHECK(order.is_before(one, legacy));
  CHECK_FALSE(order.is_before(free, legacy));
  CHECK(order.is_before(legacy, two));
  CHECK(order.is_before(one, two));
  CHECK_FALSE(order.is_before(legacy, free_after));
}

TEST_CASE("an event orders what waits for it after what it was recorded behind") {
  Order order;
  const LaunchId before = order.launch(kOne);
  order.streams.record_event(kEvent, kOne);
  const LaunchId after_record = order.launch(kOne);
  order.streams.wait_event(kFree, kEvent);
  const LaunchId waiter = order.launch(kFree);
  CHECK(order.is_before(before, waiter));
  CHECK_FALSE(order.is_before(after_record, waiter));
  order.streams.wait_event(kTwo, EventKey{99});  // never recorded
  CHECK_FALSE(order.is_before(before, order.launch(kTwo)));
}

TEST_CASE("what the host waited for is before whatever it launches then") {
  Order order;
  const LaunchId one = order.launch(kOne), two = order.launch(kTwo);
  order.streams.synchronize_stream(kOne);
  const LaunchId free = order.launch(kFree);
  CHECK(order.is_before(one, free));
  CHECK_FALSE(order.is_before(two, free));
  order.streams.synchronize_device();
  CHECK(order.is_before(two, order.launch(kFree)));
  order.streams.record_event(kEvent, kTwo);
  const LaunchId more = order.launch(kOne);
  order.streams.synchronize_event(kEvent);
  CHECK_FALSE(order.is_before(more, order.launch(kFree)));
}

TEST_CASE("work of a destroyed stream is still awaited by the legacy stream") {
  Order order;
  const LaunchId one = order.launch(kOne);
  order.streams.destroy_stream(kOne);
  CHECK(order.is_before(one, order.launch(kLegacyStream)));
}

TEST_CASE(
    "the host waits for the device, and so for the work of a destroyed stream of either kind") {
  for (const StreamKey stream : {kOne, kFree}) {
    Order order;
    const LaunchId last = order.launch(stream);
    order.streams.destroy_stream(stream);
    CHECK_FALSE(order.is_before(last, order.launch(kTwo)));
    order.streams.synchronize_device();
    CHECK(order.is_before(last, order.launch(kTwo)));
  }
}

TEST_CASE("an event that is recorded in the legacy stream stands between blocking streams") {
  Order order;
  const LaunchId one = order.launch(kOne), free = order.launch(kFree);
  order.streams.record_event(kEvent, kLegacyStream);
  const LaunchId two = order.launch(kTwo);
  CHECK(order.is_before(one, two));
  CHECK_FALSE(order.is_before(free, two));
}

TEST_CASE("a kernel that is not checked stands between blocking streams in the legacy stream") {
  Order order;
  const LaunchId one = order.launch(kOne), free = order.launch(kFree);
  order.streams.launch_unknown(kLegacyStream);
  const LaunchId two = order.launch(kTwo);
  CHECK(order.is_before(one, two));
  CHECK_FALSE(order.is_before(free, two));
  order.streams.launch_unknown(kTwo);
  CHECK_FALSE(order.is_before(two, order.launch(kOne)));
}

TEST_CASE("copies share a number until something else is said of any stream") {
  StreamOrder streams;
  const LaunchId launch{1};
  CHECK(streams.launch(kOne, launch).empty());
  const CopyOrder first = streams.copy(kOne, CopyId{1});
  CHECK(first.id == CopyId{1});
  CHECK(first.ordered_after == std::vector<WorkId>{launch});
  const CopyOrder second = streams.copy(kOne, CopyId{2});
  CHECK(second.id == CopyId{1});
  CHECK(second.ordered_after == std::vector<WorkId>{CopyId{1}});
  CHECK(streams.copy(kTwo, CopyId{3}).id == CopyId{3});
  streams.record_event(kEvent, kOne);
  const CopyOrder later = streams.copy(kOne, CopyId{4});
  CHECK(later.id == CopyId{4});
  CHECK(later.ordered_after == std::vector<WorkId>{CopyId{1}});
  CHECK(later.host_waited.empty());
  streams.synchronize_stream(kOne);
  CHECK(streams.copy(kFree, CopyId{5}).host_waited == std::vector<WorkId>{CopyId{4}});
}

TEST_CASE("only the newest launches are named, however long the host goes on") {
  Order order;
  for (int round = 0; round < 100; ++round) {
    order.launch(kOne);
    order.launch(kFree);
    order.streams.synchronize_device();
  }
  CHECK(order.before.back().size() <= 2);
}

TEST_CASE("a programmatic launch has a prerequisite if a kernel came just before it") {
  Order order;
  const LaunchId first = order.launch(kOne);
  const CopyId end{1};
  SECTION("which may still run") {
    const ProgrammaticOrder second = order.streams.launch_programmatic(kOne, LaunchId{2}, end);
    CHECK(second.ordered_after == std::vector<WorkId>{first});
    CHECK(second.prerequisite == first);
    CHECK(second.prerequisite_over == end);
    // What comes then is after both.
    std::vector<WorkId> after = order.streams.launch(kOne, LaunchId{3});
    std::ranges::sort(after);
    CHECK(after == std::vector<WorkId>{LaunchId{2}, end});
  }
  SECTION("but not in another stream") {
    CHECK(order.streams.launch_programmatic(kTwo, LaunchId{2}, end).prerequisite == LaunchId{});
  }
  SECTION("but not if the host waited for it") {
    order.streams.synchronize_stream(kOne);
    CHECK(order.streams.launch_programmatic(kOne, LaunchId{2}, end).prerequisite == LaunchId{});
  }
  SECTION("but not if a copy, an event or an unknown kernel came between") {
    const int between = GENERATE(0, 1, 2, 3);
    switch (between) {
      case 0:
        static_cast<void>(order.streams.copy(kOne, CopyId{2}));
        break;
      case 1:
        order.streams.record_event(kEvent, kOne);
        break;
      case 2:
        order.streams.record_event(kEvent, kTwo);
        order.streams.wait_event(kOne, kEvent);
        break;
      default:
        order.streams.launch_unknown(kOne);
    }
    CAPTURE(between);
    CHECK(order.streams.launch_programmatic(kOne, LaunchId{2}, end).prerequisite == LaunchId{});
  }
}

}  // namespace barracuda::detector
