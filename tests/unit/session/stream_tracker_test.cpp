#include "session/stream_tracker.h"

#include <algorithm>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

using detector::LaunchId;
using detector::WorkId;
using Launches = std::vector<WorkId>;

constexpr std::uint64_t kExecutable = 500;

LaunchId id(std::uint32_t number) {
  return LaunchId{number};
}

TEST_CASE("stream 0 and the legacy handle are one stream, the per-thread stream is each thread's") {
  StreamTracker streams;
  CHECK(streams.key_of(Handle{}) == detector::kLegacyStream);
  CHECK(streams.key_of(Handle{1}) == detector::kLegacyStream);
  const auto mine = streams.key_of(kPerThreadHandle);
  CHECK(mine == streams.key_of(kPerThreadHandle));
  CHECK(mine != detector::kLegacyStream);
  detector::StreamKey theirs{};
  std::thread([&] { theirs = streams.key_of(kPerThreadHandle); }).join();
  CHECK(theirs != mine);
}

TEST_CASE("streams are numbered as they appear, the default stream is 0") {
  StreamTracker streams;
  streams.created(Handle{0x1000}, false);
  streams.created(Handle{0x2000}, true);
  CHECK(streams.number_of(streams.key_of(Handle{})) == 0);
  CHECK(streams.number_of(streams.key_of(Handle{0x1000})) == 1);
  CHECK(streams.number_of(streams.key_of(Handle{0x2000})) == 2);
  CHECK(streams.number_of(streams.key_of(Handle{0x3000})) == 3);
}

TEST_CASE("launches of one stream follow each other, those of another need an event") {
  StreamTracker streams;
  streams.created(Handle{0x1000}, true);
  streams.created(Handle{0x2000}, true);
  const auto first = streams.key_of(Handle{0x1000});
  const auto second = streams.key_of(Handle{0x2000});
  CHECK(streams.launch(first, id(1)).empty());
  CHECK(streams.launch(first, id(2)) == Launches{id(1)});
  CHECK(streams.launch(second, id(3)).empty());
  streams.event_recorded(Handle{0x77}, first);
  streams.event_waited(second, Handle{0x77});
  const Launches after = streams.launch(second, id(4));
  CHECK(std::set<WorkId>(after.begin(), after.end()) == std::set<WorkId>{id(2), id(3)});
}

TEST_CASE("whether a stream's last kernel lets others begin is told when the next one comes") {
  StreamTracker streams;
  const detector::StreamKey one{7}, other{8};
  CHECK(streams.lets_dependents_begin(one, false));  // of none before it nothing is known
  CHECK_FALSE(streams.lets_dependents_begin(one, true));
  CHECK(streams.lets_dependents_begin(other, false));
  CHECK(streams.lets_dependents_begin(one, false));
  CHECK_FALSE(streams.lets_dependents_begin(other, false));
  streams.launch_unchecked(one);
  CHECK(streams.lets_dependents_begin(one, false));
}

TEST_CASE("a stream that waits for a value comes after those that have written one that ends it") {
  StreamTracker streams;
  for (const std::uint64_t stream : {0x1000, 0x2000, 0x3000}) {
    streams.created(Handle{stream}, true);
  }
  const auto first = streams.key_of(Handle{0x1000});
  const auto second = streams.key_of(Handle{0x2000});
  const auto waiting = streams.key_of(Handle{0x3000});
  const auto awaits = [&](ValueCondition condition, std::uint64_t value) {
    return streams.value_awaited(
        waiting, {.address = 64, .value = value, .bytes = 4, .condition = condition});
  };
  streams.launch(first, id(1));
  CHECK_FALSE(awaits(ValueCondition::kEqual, 0));
  streams.value_written(first, 64, 1);
  streams.launch(first, id(2));  // behind the write
  streams.launch(second, id(3));
  streams.value_written(second, 64, 4);
  streams.value_written(second, 68, 2);
  CHECK_FALSE(awaits(ValueCondition::kEqual, 2));
  CHECK(streams.launch(waiting, id(4)).empty());
  CHECK(awaits(ValueCondition::kAtLeast, 2));
  streams.launch(waiting, id(5));
  CHECK(streams.is_before(id(3), id(5)));
  CHECK_FALSE(streams.is_before(id(1), id(5)));
  CHECK(awaits(ValueCondition::kEqual, 1));
  streams.launch(waiting, id(6));
  CHECK(streams.is_before(id(1), id(6)));
  CHECK_FALSE(streams.is_before(id(2), id(6)));
}

TEST_CASE("of an address the last values that streams have written are known") {
  StreamTracker streams;
  streams.created(Handle{0x1000}, true);
  const auto stream = streams.key_of(Handle{0x1000});
  for (std::uint64_t value = 0; value < 300; ++value) {
    streams.value_written(stream, 64, value);
  }
  const auto knows = [&](std::uint64_t value) {
    return streams.value_awaited(
        stream, {.address = 64, .value = value, .bytes = 4, .condition = ValueCondition::kEqual});
  };
  CHECK(knows(299));
  CHECK(knows(44));
  CHECK_FALSE(knows(43));
}

TEST_CASE("the nodes of a graph follow their edges, the stream before them and after them") {
  StreamTracker streams;
  streams.created(Handle{0x1000}, true);
  const auto stream = streams.key_of(Handle{0x1000});
  (void)streams.launch(stream, id(1));
  // A diamond whose top is no kernel.
  const std::vector<GraphStep> steps = {{.work = {}, .dependencies = {}},
                                        {.work = id(2), .dependencies = {0}},
                                        {.work = id(3), .dependencies = {0}},
                                        {.work = id(4), .dependencies = {1, 2}}};
  const GraphOrder order = streams.graph_launch(stream, kExecutable, steps);
  const auto& after = order.after;
  REQUIRE(after.size() == 4);
  CHECK_FALSE(order.is_chain);
  CHECK(after[0].empty());
  CHECK(after[1] == Launches{id(1)});
  CHECK(after[2] == Launches{id(1)});
  CHECK(std::set<WorkId>(after[3].begin(), after[3].end()) == std::set<WorkId>{id(2), id(3)});
  CHECK(streams.launch(stream, id(5)) == Launches{id(4)});

  const GraphOrder replay =
      streams.graph_launch(stream, kExecutable,
                           std::vector<GraphStep>{{.work = id(6), .dependencies = {}},
                                                  {.work = {}, .dependencies = {0}},
                                                  {.work = id(7), .dependencies = {1}}});
  CHECK(replay.after[0] == Launches{id(5)});
  CHECK(replay.is_chain);
}

TEST_CASE("nodes of a graph record events for other streams, and wait for those of others") {
  StreamTracker streams;
  for (const std::uint64_t stream : {0x1000, 0x2000}) {
    streams.created(Handle{stream}, true);
  }
  const auto graph = streams.key_of(Handle{0x1000});
  const auto other = streams.key_of(Handle{0x2000});
  const Handle awaited{0x70}, recorded{0x80};
  (void)streams.launch(other, id(1));
  streams.event_recorded(awaited, other);
  // The second waits, and the third comes behind it; the fourth records behind that.
  const GraphOrder order = streams.graph_launch(
      graph, kExecutable,
      std::vector<GraphStep>{{.work = id(2), .dependencies = {}},
                             {.work = {}, .dependencies = {}, .waits_for = awaited},
                             {.work = id(3), .dependencies = {1}},
                             {.work = {}, .dependencies = {2}, .records = recorded},
                             {.work = id(4), .dependencies = {3}}});
  CHECK(order.after[0].empty());
  CHECK(order.after[2] == Launches{id(1)});
  streams.event_waited(other, recorded);
  CHECK(streams.launch(other, id(5)) == Launches{id(3)});
}

TEST_CASE("a stream that is gone is no rival, if the host has waited for what was in it") {
  StreamTracker streams;
  const auto use_new = [&](Handle handle, std::uint32_t launch) {
    streams.created(handle, true);
    (void)streams.launch(streams.key_of(handle), id(launch));
    return streams.key_of(handle);
  };
  const auto first = use_new(Handle{16}, 1);
  CHECK(streams.has_no_rival(first));
  streams.stream_synchronized(first);
  streams.destroyed(Handle{16});
  const auto second = use_new(Handle{17}, 2);
  CHECK(streams.has_no_rival(second));
  streams.destroyed(Handle{17});
  CHECK_FALSE(streams.has_no_rival(use_new(Handle{18}, 3)));
}

TEST_CASE("replays of one executable graph follow each other in any streams, those of two do not") {
  StreamTracker streams;
  streams.created(Handle{16}, true);
  streams.created(Handle{17}, true);
  const auto replay = [&](Handle stream, std::uint64_t executable, std::uint32_t launch) {
    return streams.graph_launch(streams.key_of(stream), executable,
                                std::vector<GraphStep>{{.work = id(launch), .dependencies = {}}});
  };
  const GraphOrder first = replay(Handle{16}, kExecutable, 1);
  CHECK(first.after[0].empty());
  CHECK(first.is_chain);
  const GraphOrder beside = replay(Handle{17}, kExecutable + 1, 2);
  CHECK(beside.after[0].empty());
  CHECK_FALSE(beside.is_chain);
  const Launches after = replay(Handle{17}, kExecutable, 3).after[0];
  CHECK(std::set<WorkId>(after.begin(), after.end()) == std::set<WorkId>{id(1), id(2)});
}

detector::CopyOrder copy(StreamTracker& streams, Handle stream, std::uint32_t number) {
  return streams.copy(streams.key_of(stream), detector::CopyId{number});
}

TEST_CASE("copies of the default streams follow the rules of launches there") {
  StreamTracker streams;
  streams.created(Handle{0x1000}, false);
  streams.created(Handle{0x2000}, true);
  CHECK(copy(streams, Handle{0x1000}, 1).ordered_after.empty());
  CHECK(copy(streams, Handle{0x2000}, 2).ordered_after.empty());
  // The legacy stream awaits the blocking one alone, and the thread's own stream the legacy one.
  CHECK(copy(streams, Handle{}, 3).ordered_after == Launches{detector::CopyId{1}});
  CHECK(copy(streams, kPerThreadHandle, 4).ordered_after == Launches{detector::CopyId{3}});
  CHECK(copy(streams, Handle{0x2000}, 5).ordered_after == Launches{detector::CopyId{2}});
  detector::CopyOrder theirs;
  std::thread([&] { theirs = copy(streams, kPerThreadHandle, 6); }).join();
  CHECK(theirs.id == detector::CopyId{6});
  CHECK(theirs.ordered_after == Launches{detector::CopyId{3}});
}

TEST_CASE("an event is behind the copies before it, though copies after it could share a number") {
  StreamTracker streams;
  streams.created(Handle{0x1000}, true);
  streams.created(Handle{0x2000}, true);
  CHECK(copy(streams, Handle{0x1000}, 1).id == detector::CopyId{1});
  CHECK(copy(streams, Handle{0x1000}, 2).id == detector::CopyId{1});
  streams.event_recorded(Handle{0x77}, streams.key_of(Handle{0x1000}));
  CHECK(copy(streams, Handle{0x1000}, 3).id == detector::CopyId{3});
  streams.event_waited(streams.key_of(Handle{0x2000}), Handle{0x77});
  CHECK(copy(streams, Handle{0x2000}, 4).ordered_after == Launches{detector::CopyId{1}});
}

TEST_CASE("copies of a destroyed stream go on until something awaits them") {
  StreamTracker streams;
  for (const bool non_blocking : {false, true}) {
    const std::uint32_t first = non_blocking ? 10 : 1;
    streams.created(Handle{0x1000}, non_blocking);
    (void)copy(streams, Handle{0x1000}, first);
    streams.destroyed(Handle{0x1000});
    streams.created(Handle{0x1000}, true);  // another stream that has its handle
    CHECK(copy(streams, Handle{0x1000}, first + 1).ordered_after !=
          Launches{detector::CopyId{first}});
    streams.device_synchronized();
    CHECK(std::ranges::count(streams.host_waited(), detector::WorkId(detector::CopyId{first})) ==
          1);
    streams.destroyed(Handle{0x1000});
  }
}

TEST_CASE("what was copied before a device was reset is over for all that comes then") {
  StreamTracker streams;
  streams.created(Handle{0x1000}, true);
  (void)copy(streams, Handle{0x1000}, 1);
  streams.device_synchronized();  // the end of a context waits for it
  streams.created(Handle{0x1000}, true);
  const detector::CopyOrder after = copy(streams, Handle{0x1000}, 2);
  CHECK(after.ordered_after == Launches{detector::CopyId{1}});
  CHECK(after.host_waited == Launches{detector::CopyId{1}});
}

}  // namespace
}  // namespace barracuda::session
