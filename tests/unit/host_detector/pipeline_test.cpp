#include "host_detector/pipeline.h"

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "device_logger/order_number.h"
#include "tests/unit/host_detector/manual_clock.h"
#include "tests/unit/host_detector/pipeline_records.h"

namespace barracuda::detector::test {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kPatience{20000};

// A pipeline with a clock of its own, and the late launches that it reported.
class Late {
 public:
  explicit Late(milliseconds limit, std::uint32_t threads = 1)
      : running(1, 7,
                {.detector = {},
                 .detector_threads = threads,
                 .late_after = limit,
                 .on_late =
                     [this](const LateLaunch& launch) {
                       const std::lock_guard lock(mutex_);
                       told_.push_back(launch);
                     },
                 .now = [this] { return clock_.now(); }}) {}

  std::vector<LateLaunch> all() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

  // How many were reported when so much time has passed. Nobody looks more often than every eighth
  // of the limit.
  std::size_t count_after(milliseconds time) {
    REQUIRE(clock_.pass(time));
    return all().size();
  }

  // All that was written has been taken from the queues.
  bool has_read(std::uint64_t records) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (running.pipeline.statistics().records < records &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return running.pipeline.statistics().records == records;
  }

 private:
  ManualClock clock_;
  std::mutex mutex_;
  std::vector<LateLaunch> told_;

 public:
  Running running;  // last: its threads tell until it is gone
};

}  // namespace

TEST_CASE("who must not wait for a long round of detection goes on without it") {
  // Its first round lasts until it is told to end.
  struct Slow : Observer {
    void queues_idle() override {
      if (!is_over.exchange(true)) {
        has_begun.count_down();
        may_end.wait();
      }
    }

    std::atomic<bool> is_over{false};
    std::latch has_begun{1}, may_end{1};
  } slow;

  Running running(1, 7, {.observer = &slow});
  slow.has_begun.wait();
  CHECK_FALSE(Pipeline::Rest(running.pipeline, milliseconds(20)).has_come());
  slow.may_end.count_down();
  const Pipeline::Rest rest(running.pipeline, kPatience);
  CHECK(rest.has_come());
  CHECK(running.pipeline.findings().races.empty());  // though it lasts
}

TEST_CASE("records come through a small ring many times round, and the writer waits for room") {
  Running running(1, 7);
  constexpr std::uint32_t kCtas = 40;
  running.pipeline.begin_launch(launch_of(1, kCtas));
  RingWriter writer(running.memory, 0);
  std::uint64_t records = 0;
  for (std::uint32_t round = 0; round < 200; ++round) {
    for (std::uint32_t cta = 0; cta < kCtas; ++cta) {
      WarpOperation write = access(kWriteSite, cta, 0x10000 + cta * 4096U + round * 4);
      writer.write(write);
      ++records;
    }
  }
  for (std::uint32_t cta = 0; cta < kCtas; ++cta) {
    writer.write(exit_of(cta));
    ++records;
  }
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(writer.head() > 100 * (std::uint64_t{1} << 7));
  CHECK(running.pipeline.statistics().records == records);
  CHECK(running.pipeline.statistics().slots == writer.head());
  CHECK(running.pipeline.statistics().rejected == 0);
  CHECK(running.pipeline.findings().races.empty());
}

TEST_CASE("a finding is announced at once, and its repetitions are not") {
  std::atomic<int> told = 0;
  std::latch has_told(1);
  Running running(1, 7, {.detector = {}, .on_finding = [&] {
                           if (told++ == 0) {
                             has_told.count_down();
                           }
                         }});
  running.pipeline.begin_launch(launch_of(1, 2));
  RingWriter writer(running.memory, 0);
  writer.write(access(kWriteSite, 0, kData));
  writer.write(access(kWriteSite, 1, kData));
  has_told.wait();  // the launch is not over
  CHECK(running.pipeline.findings_so_far().races.size() == 1);
  const std::uint64_t records = 100;
  for (std::uint64_t i = 0; i < records; ++i) {
    writer.write(access(kWriteSite, i % 2, kData));
  }
  writer.write(exit_of(0));
  writer.write(exit_of(1));
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(running.pipeline.findings().races.size() == 1);
  CHECK(told == 1);
}

TEST_CASE("a launch begins, and is asked after, and memory is freed, while the detector is busy") {
  class Busy : public Observer {
   public:
    void record_applied(LaunchId, std::span<const std::byte>) override {
      reached.count_down();
      may_go_on.wait();
    }

    std::latch reached{1}, may_go_on{1};
  };

  Busy busy;
  Running running(1, 7, {.detector = {}, .observer = &busy});
  running.pipeline.begin_launch(launch_of(1, 1));
  RingWriter writer(running.memory, 0);
  writer.write(access(kWriteSite, 0, kData));
  busy.reached.wait();
  const auto host = std::async(std::launch::async, [&] {
    const auto more = sites();
    running.pipeline.add_sites(SiteId{100}, more);
    running.pipeline.begin_launch(launch_of(2, 1));
    running.pipeline.forget(kData, 4);
    CHECK_FALSE(running.pipeline.wait_for(LaunchId{1}, milliseconds{0}));
    CHECK_FALSE(running.pipeline.wait_for(LaunchId{3}, milliseconds{0}));  // not begun
  });
  CHECK(host.wait_for(kPatience) == std::future_status::ready);
  busy.may_go_on.count_down();
  writer.write(exit_of(0));
  writer.write(exit_of(0, 2));
  CHECK(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(running.pipeline.wait_for(LaunchId{2}, kPatience));
  CHECK(running.pipeline.statistics().rejected == 0);
}

TEST_CASE("a launch knows what those before it learnt while it was waiting for them") {
  for (const bool is_announced_early : {true, false}) {
    CAPTURE(is_announced_early);
    Running running(1, 7);
    RingWriter writer(running.memory, 0);
    const auto of_launch = [](WarpOperation made, std::uint32_t launch) {
      made.launch = LaunchId{launch};
      return made;
    };
    running.pipeline.begin_launch(launch_of(1, 1));
    running.pipeline.begin_launch(launch_of(2, 1));
    if (is_announced_early) {
      running.pipeline.begin_launch(launch_of(3, 1, {LaunchId{2}}));
    }
    // The first tells the second, and the third comes after the second.
    writer.write(access(kWriteSite, 0, kData, 1));
    writer.write(of_launch(release_of(0, 7), 1), {0});
    writer.write(of_launch(acquire_of(0, 7), 2), {1});
    writer.write(exit_of(0, 2));
    if (!is_announced_early) {
      REQUIRE(running.pipeline.wait_for(LaunchId{2}, kPatience));
      running.pipeline.begin_launch(launch_of(3, 1, {LaunchId{2}}));
    }
    writer.write(access(kReadSite, 0, kData, 3));
    writer.write(exit_of(0, 3));
    writer.write(exit_of(0, 1));
    REQUIRE(running.pipeline.wait_for(LaunchId{3}, kPatience));
    REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
    CHECK(running.pipeline.statistics().rejected == 0);
    CHECK(running.pipeline.findings().races.empty());
  }
}

TEST_CASE("what comes after a launch that was never made comes after those before it") {
  Running running(1, 7);
  RingWriter writer(running.memory, 0);
  running.pipeline.begin_launch(launch_of(1, 1));
  running.pipeline.begin_launch(launch_of(2, 1, {LaunchId{1}}));
  running.pipeline.end_launch(LaunchId{2});
  running.pipeline.begin_launch(launch_of(3, 1, {LaunchId{2}}));
  writer.write(access(kReadSite, 0, kData, 3));
  writer.write(exit_of(0, 3));
  writer.write(access(kWriteSite, 0, kData, 1));
  writer.write(exit_of(0, 1));
  REQUIRE(running.pipeline.wait_for(LaunchId{3}, kPatience));
  CHECK(running.pipeline.wait_for(LaunchId{2}, kPatience));
  CHECK(running.pipeline.statistics().rejected == 0);
  CHECK(running.pipeline.findings().races.empty());
}

TEST_CASE("a quiet launch that is not over in time is reported once, and an idle program is not") {
  Late late(milliseconds{100});
  RingWriter writer(late.running.memory, 0);
  CHECK(late.count_after(milliseconds{250}) == 0);
  late.running.pipeline.begin_launch(launch_of(1, 1));
  CHECK(late.count_after(milliseconds{99}) == 0);
  REQUIRE(late.count_after(milliseconds{20}) == 1);
  CHECK(late.all()[0].id == LaunchId{1});
  CHECK(late.all()[0].records == 0);
  CHECK(late.all()[0].since_last == milliseconds{119});
  CHECK(late.all()[0].waiting_bytes == 0);
  writer.write(access(kWriteSite, 0, kData, 1));
  CHECK(late.count_after(milliseconds{250}) == 1);
  writer.write(exit_of(0, 1));
  REQUIRE(late.running.pipeline.wait_for(LaunchId{1}, kPatience));
  late.running.pipeline.begin_launch(launch_of(2, 1));
  REQUIRE(late.count_after(milliseconds{100}) == 2);
  CHECK(late.all()[1].id == LaunchId{2});
  writer.write(exit_of(0, 2));
  CHECK(late.running.pipeline.wait_for(LaunchId{2}, kPatience));
  CHECK(late.count_after(milliseconds{250}) == 2);
}

TEST_CASE("a launch that logs on and on is reported once, with what it has logged") {
  for (const std::uint32_t threads : {1U, 2U}) {
    CAPTURE(threads);
    Late late(milliseconds{500}, threads);
    RingWriter writer(late.running.memory, 0);
    late.running.pipeline.begin_launch(launch_of(1, 2));
    std::uint64_t written = 0;
    const auto count_after_logging = [&](milliseconds time) {
      writer.write(access(kReadSite, written % 2, kData, 1));
      ++written;
      REQUIRE(late.has_read(written));
      return late.count_after(time);
    };
    CHECK(count_after_logging(milliseconds{200}) == 0);
    CHECK(count_after_logging(milliseconds{200}) == 0);
    REQUIRE(count_after_logging(milliseconds{100}) == 1);
    CHECK(late.all()[0].id == LaunchId{1});
    CHECK(late.all()[0].records == 3);
    CHECK(late.all()[0].since_last == milliseconds{100});
    CHECK(count_after_logging(milliseconds{1000}) == 1);
    writer.write(exit_of(0, 1));
    writer.write(exit_of(1, 1));
    REQUIRE(late.running.pipeline.wait_for(LaunchId{1}, kPatience));
    CHECK(late.all().size() == 1);
  }
}

TEST_CASE("each of several late launches is reported, and one behind them when it has begun") {
  Late late(milliseconds{500});
  RingWriter writer(late.running.memory, 0);
  late.running.pipeline.begin_launch(launch_of(1, 1));
  late.running.pipeline.begin_launch(launch_of(2, 1));
  late.running.pipeline.begin_launch(launch_of(3, 1, {LaunchId{1}}));
  writer.write(access(kWriteSite, 0, kData, 1));
  writer.write(access(kWriteSite, 0, kData + 4, 2));
  writer.write(access(kWriteSite, 0, kData + 8, 1));
  writer.write(access(kWriteSite, 0, kData + 12, 3));  // it may wait for a part of another
  REQUIRE(late.has_read(4));
  CHECK(late.count_after(milliseconds{499}) == 0);
  CHECK(late.count_after(milliseconds{100}) == 2);
  REQUIRE(late.count_after(milliseconds{600}) == 2);
  CHECK(late.all()[0].id == LaunchId{1});
  CHECK(late.all()[0].records == 2);
  CHECK(late.all()[1].id == LaunchId{2});
  CHECK(late.all()[1].records == 1);
  CHECK(late.all()[1].waiting_bytes > 0);
  writer.write(exit_of(0, 1));
  REQUIRE(late.running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(late.count_after(milliseconds{499}) == 2);
  REQUIRE(late.count_after(milliseconds{100}) == 3);
  CHECK(late.all()[2].id == LaunchId{3});
  CHECK(late.all()[2].records == 1);
  CHECK(late.all()[2].since_last >= milliseconds{500});
}

TEST_CASE("a launch that is over in time is never reported, nor any without a limit") {
  for (const milliseconds limit : {milliseconds{60000}, milliseconds{0}}) {
    Late late(limit);
    RingWriter writer(late.running.memory, 0);
    late.running.pipeline.begin_launch(launch_of(1, 1));
    CHECK(late.count_after(milliseconds{59999}) == 0);
    writer.write(exit_of(0, 1));
    REQUIRE(late.running.pipeline.wait_for(LaunchId{1}, kPatience));
    CHECK(late.count_after(milliseconds{60000}) == 0);
  }
}

TEST_CASE("a race between records of two queues is found whichever thread drains them") {
  for (const std::uint32_t threads : {1U, 2U}) {
    Running running(2, 7, {.detector = {}, .drain_threads = threads});
    running.pipeline.begin_launch(launch_of(1, 2));
    RingWriter first(running.memory, 0), second(running.memory, 1);
    std::thread other([&] {
      second.write(access(kReadSite, 1, kData));
      second.write(exit_of(1));
    });
    first.write(access(kWriteSite, 0, kData));
    first.write(exit_of(0));
    other.join();
    REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
    CHECK(running.pipeline.findings().races.size() == 1);
  }
}

TEST_CASE("what is launched after memory was freed is not held against what was there before") {
  for (const bool is_freed : {false, true}) {
    Running running(1, 7);
    RingWriter writer(running.memory, 0);
    for (const std::uint32_t launch : {1U, 2U}) {
      running.pipeline.begin_launch(launch_of(launch, 1));  // after no other
      writer.write(access(kWriteSite, 0, kData, launch));
      writer.write(exit_of(0, launch));
      REQUIRE(running.pipeline.wait_for(LaunchId{launch}, kPatience));
      if (is_freed) {
        running.pipeline.forget(kData, 4);
      }
    }
    CHECK(running.pipeline.findings().races.size() == (is_freed ? 0 : 1));
  }
}

TEST_CASE("what several threads detect is applied once, and each race is found once") {
  constexpr std::uint32_t kCtas = 64;
  constexpr std::uint32_t kRounds = 500;
  Running running(2, 10, {.detector = {}, .drain_threads = 2, .detector_threads = 2});
  running.pipeline.begin_launch(launch_of(1, kCtas));
  const auto write_from = [&](std::uint32_t queue) {
    RingWriter writer(running.memory, queue);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::uint32_t cta = queue; cta < kCtas; cta += 2) {
        writer.write(access(kWriteSite, cta, kData + (std::uint64_t{cta} << 16) + round * 4));
        // Pages that all blocks read, and one word that block 1 alone writes.
        writer.write(access(cta == 1 && round == 7 ? kWriteSite : kReadSite, cta,
                            0x10000 + std::uint64_t{round % 256} * 64));
      }
    }
    for (std::uint32_t cta = queue; cta < kCtas; cta += 2) {
      writer.write(exit_of(cta));
    }
  };
  std::thread other([&] { write_from(1); });
  write_from(0);
  other.join();
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(running.pipeline.statistics().records == kCtas * (2 * kRounds + 1));
  CHECK(running.pipeline.statistics().rejected == 0);
  REQUIRE(running.pipeline.findings().races.size() == 1);
  const RaceEvent race = running.pipeline.findings().races[0];
  CHECK((race.first.site == SiteId{kWriteSite}) != (race.second.site == SiteId{kWriteSite}));
  CHECK(race.count >= kCtas - 1);
}

TEST_CASE("the blocks of a cluster are detected in the order of their queue, on many threads too") {
  const std::uint32_t threads = GENERATE(1U, 2U);
  Running running(2, 7, {.detector = {}, .detector_threads = threads});
  LaunchInfo launch = launch_of(1, 2);
  launch.cluster.x = 2;
  running.pipeline.begin_launch(launch);
  RingWriter writer(running.memory, 0);
  const auto event_of = [](Site site, std::uint32_t cta) {
    return operation(site, RecordKind::kEvent, cta, 0);
  };
  writer.write(access(kWriteSite, 1, kData));  // of the second block, for the first
  for (const Site site : {kArriveSite, kWaitSite}) {
    writer.write(event_of(site, 1));
    writer.write(event_of(site, 0));
  }
  writer.write(access(kReadSite, 0, kData));
  writer.write(exit_of(0));
  writer.write(exit_of(1));
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(running.pipeline.findings().races.empty());
  CHECK(running.pipeline.statistics().rejected == 0);
}

TEST_CASE("an acquire that is drained before its release waits for it") {
  Running running;
  running.pipeline.begin_launch(launch_of(1, 2));
  RingWriter first(running.memory, 0), second(running.memory, 1);
  second.write(acquire_of(1, 7), {1});
  second.write(access(kReadSite, 1, kData));
  second.write(exit_of(1));
  CHECK_FALSE(running.pipeline.wait_for(LaunchId{1}, milliseconds{50}));
  first.write(access(kWriteSite, 0, kData));
  first.write(release_of(0, 7), {0});
  first.write(exit_of(0));
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(running.pipeline.findings().races.empty());
  CHECK(running.pipeline.statistics().parked_peak > 0);
}

TEST_CASE("a release that is claimed and not yet written holds up its own queue only") {
  Running running;
  running.pipeline.begin_launch(launch_of(1, 2));
  RingWriter first(running.memory, 0), second(running.memory, 1);
  const std::uint64_t slot = first.claim(wire::record_slots(RecordKind::kRelease, 1));
  first.header(slot, RecordKind::kRelease,
               release_of(0, 1));  // as the device: the header is there at once
  first.write(exit_of(0));
  second.write(access(kWriteSite, 1, kData));
  for (int round = 0; round < 2000 && second.read_position() != second.head(); ++round) {
    std::this_thread::sleep_for(milliseconds{1});
  }
  CHECK(second.read_position() == second.head());
  CHECK(first.read_position() == 0);
  first.write_at(slot, RecordKind::kRelease, release_of(0, 1), {0});
  second.write(exit_of(1));
  CHECK(running.pipeline.wait_for(LaunchId{1}, kPatience));
}

TEST_CASE("records of a later launch wait until the earlier one is over") {
  Running running;
  running.pipeline.begin_launch(launch_of(1, 1));
  running.pipeline.begin_launch(launch_of(2, 1, {LaunchId{1}}));
  RingWriter first(running.memory, 0), second(running.memory, 1);
  second.write(access(kReadSite, 0, kData, 2));
  second.write(exit_of(0, 2));
  CHECK_FALSE(running.pipeline.wait_for(LaunchId{2}, milliseconds{50}));
  first.write(access(kWriteSite, 0, kData));
  first.write(exit_of(0));
  REQUIRE(running.pipeline.wait_for(LaunchId{2}, kPatience));
  CHECK(running.pipeline.findings().races.empty());
}

TEST_CASE("a launch that is force-ended is over with what its queues held and did not wait") {
  Running running;
  running.pipeline.begin_launch(launch_of(1, 2));
  RingWriter first(running.memory, 0), second(running.memory, 1);
  first.write(access(kWriteSite, 0, kData));
  second.write(access(kReadSite, 1, kData));
  second.write(acquire_of(1, 1), {5});  // its releases will never come, and may have ordered this
  second.write(access(kReadSite, 1, kData + 8));
  first.write(access(kWriteSite, 0, kData + 8));
  running.pipeline.end_launch(LaunchId{1});
  CHECK(running.pipeline.wait_for(LaunchId{1}, milliseconds{0}));
  REQUIRE(running.pipeline.findings().races.size() == 1);
  CHECK(running.pipeline.findings().races[0].second.address == kData);
}

TEST_CASE("what a launch logs after it was force-ended is not malformed, what no launch logs is") {
  const std::uint32_t threads = GENERATE(1U, 2U);
  Running running(2, 7, {.detector = {}, .detector_threads = threads});
  running.pipeline.begin_launch(launch_of(1, 2));
  RingWriter writer(running.memory, 0);
  writer.write(access(kWriteSite, 0, kData));
  running.pipeline.end_launch(LaunchId{1});
  writer.write(access(kWriteSite, 0, kData));
  running.pipeline.end_launch(LaunchId{1});  // all was read when it returns
  CHECK(running.pipeline.statistics().records == 2);
  CHECK(running.pipeline.statistics().rejected == 0);
  running.pipeline.begin_launch(launch_of(1 + (1U << 16U), 0));  // another, of the same low bits
  writer.write(access(kWriteSite, 0, kData));
  running.pipeline.end_launch(LaunchId{1});
  CHECK(running.pipeline.statistics().rejected == 1);
}

TEST_CASE("numbers that a killed launch took do not hold up the next one") {
  Running running;
  running.pipeline.begin_launch(launch_of(1, 1));
  running.pipeline.end_launch(LaunchId{1});  // it took number 0 and wrote nothing
  running.pipeline.begin_launch(launch_of(2, 2));
  RingWriter first(running.memory, 0), second(running.memory, 1);
  WarpOperation acquire = acquire_of(1, 9);
  acquire.launch = LaunchId{2};
  second.write(acquire, {2});
  second.write(access(kReadSite, 1, kData, 2));
  second.write(exit_of(1, 2));
  first.write(access(kWriteSite, 0, kData, 2));
  WarpOperation release = release_of(0, 9);
  release.launch = LaunchId{2};
  first.write(release, {1});
  first.write(exit_of(0, 2));
  REQUIRE(running.pipeline.wait_for(LaunchId{2}, kPatience));
  CHECK(running.pipeline.findings().races.empty());
}

TEST_CASE("malformed records are counted and skipped") {
  Running running(1);
  running.pipeline.begin_launch(launch_of(1, 1));
  RingWriter writer(running.memory, 0);
  writer.write(access(kWriteSite, 0, kData, 99));  // no such launch
  writer.write(access(kWriteSite, 5, kData));      // no such block
  WarpOperation unknown = access(kWriteSite, 0, kData);
  unknown.site = SiteId{1000};
  writer.write(unknown);
  const std::uint64_t slot = writer.claim(1);
  writer.header(slot, static_cast<RecordKind>(15), exit_of(0));
  writer.write(exit_of(0));
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(running.pipeline.statistics().rejected == 4);
}

TEST_CASE("queues that are removed are read to their end first, and new ones begin afresh") {
  RingMemory memory(1, 8);  // the pipeline reads it to its own end
  Running running(1);
  running.pipeline.begin_launch(launch_of(1, 1));
  RingWriter writer(running.memory, 0);
  writer.write(access(kWriteSite, 0, kData));
  writer.write(exit_of(0));
  running.pipeline.remove_queues(running.memory.set().rings);
  CHECK(running.pipeline.wait_for(LaunchId{1}, milliseconds{0}));
  running.pipeline.add_queues(memory.set());
  running.pipeline.begin_launch(launch_of(2, 1));
  RingWriter other(memory, 0);
  other.write(access(kWriteSite, 0, kData, 2));
  other.write(exit_of(0, 2));
  REQUIRE(running.pipeline.wait_for(LaunchId{2}, kPatience));
  CHECK(running.pipeline.findings().races.size() == 1);  // the launches were not ordered
}

TEST_CASE("a writer outruns detection without losing records") {
  Running running(2, 9);
  constexpr std::uint32_t kCtas = 64;
  running.pipeline.begin_launch(launch_of(1, 2 * kCtas));
  const auto produce = [&](std::uint32_t queue) {
    RingWriter writer(running.memory, queue);
    for (std::uint32_t round = 0; round < 100; ++round) {
      for (std::uint32_t cta = queue; cta < 2 * kCtas; cta += 2) {
        writer.write(access(kReadSite, cta, kData + 4 * (round % 16)));
      }
    }
    for (std::uint32_t cta = queue; cta < 2 * kCtas; cta += 2) {
      writer.write(exit_of(cta));
    }
  };
  std::thread other(produce, 1);
  produce(0);
  other.join();
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  CHECK(running.pipeline.statistics().records == 2 * kCtas * 101);
  CHECK(running.pipeline.statistics().rejected == 0);
}

TEST_CASE("a forked child abandons the threads and the findings of its parent") {
  Running running(1);
  running.pipeline.begin_launch(launch_of(1, 2));
  RingWriter writer(running.memory, 0);
  writer.write(access(kWriteSite, 0, kData));
  writer.write(access(kWriteSite, 1, kData));
  writer.write(exit_of(0));
  writer.write(exit_of(1));
  REQUIRE(running.pipeline.wait_for(LaunchId{1}, kPatience));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    running.pipeline.abandon();
    const bool is_empty =
        running.pipeline.findings().races.empty() && running.pipeline.statistics().records == 0;
    _exit(is_empty ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(running.pipeline.findings().races.size() == 1);
}

}  // namespace barracuda::detector::test
