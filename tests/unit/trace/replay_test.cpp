#include "trace/replay.h"

#include <catch2/catch.hpp>

#include "base/options.h"
#include "report/resolve.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace/sample.h"

namespace barracuda::trace {
namespace {

using Catch::Contains;

Expected<Replayed> replay_events(const std::vector<Event>& events) {
  const ScratchFolder folder;
  write_trace(folder / "trace", events, 3);
  const auto reader = Reader::open(folder / "trace");
  REQUIRE(reader);
  return replay(*reader, {}, {});
}

// The only process's problem; empty if it has none.
std::string problem_of(const std::vector<Event>& events) {
  const auto replayed = replay_events(events);
  REQUIRE(replayed);
  REQUIRE(replayed->processes.size() == 1);
  const auto& problems = replayed->processes.front().run.problems;
  return problems.empty() ? "" : problems.back();
}

TEST_CASE("a replay finds the race, with its places") {
  std::vector<Event> events = race_events();
  events.emplace_back(race_end());
  const auto replayed = replay_events(events);
  REQUIRE(replayed);
  REQUIRE(replayed->processes.size() == 1);
  CHECK(replayed->processes.front().process == kProcess);
  const report::RunData& run = replayed->processes.front().run;
  CHECK(run.problems.empty());
  const report::Report report = report::resolve(run, Options{});
  REQUIRE(report.findings.size() == 1);
  const report::Finding& race = report.findings.front();
  CHECK(race.type == report::FindingType::kRace);
  CHECK(race.kind == "intra-block");
  CHECK(race.accesses[0].place.line == 20);
  CHECK(race.accesses[0].stream == 3);
  CHECK(race.accesses[1].launched_from == "main() at app.cu:42");
  CHECK(run.launches.front().logger_bytes == 32);
  CHECK(report.device == "a device");
  CHECK(report.coverage.launches == 1);
}

TEST_CASE("a copy that nothing orders is replayed, with its place") {
  std::vector<Event> events = race_events();
  events.emplace_back(CopyDescribed{.call = detector::CallId{0},
                                    .operation = detector::HostOperation::kMemset,
                                    .stream = 2,
                                    .stack = 7});
  events.emplace_back(CopyBegun{
      {.id = detector::CopyId{1},
       .call = detector::CallId{0},
       .ordered_after = {},
       .host_waited = {},
       .accesses = {
           {.address = 0x1000, .row_bytes = 64, .pitch = 64, .rows = 1, .is_written = true}}}});
  events.emplace_back(CopyPlaceNamed{
      .stack = 7, .place = {.function = "main()", .file = "app.cu", .line = 50, .column = 0}});
  events.emplace_back(race_end());
  const auto replayed = replay_events(events);
  REQUIRE(replayed);
  const report::Report report = report::resolve(replayed->processes.front().run, Options{});
  REQUIRE(report.findings.size() == 2);
  const report::Finding& race = report.findings.back();
  CHECK(race.kind == "kernel-copy");
  const report::Access& memset = race.accesses[1];
  CHECK(memset.operation == report::AccessOperation::kMemset);
  CHECK(memset.is_by_host);
  CHECK(memset.place.line == 50);
  CHECK(memset.stream == 2);
  CHECK(memset.size == 64);
}

TEST_CASE("a trace without an end gives what it has, and says that it is not all") {
  const auto replayed = replay_events(race_events());
  REQUIRE(replayed);
  const report::Report report = report::resolve(replayed->processes.front().run, Options{});
  CHECK(report.findings.size() == 1);
  CHECK(report.coverage.launches == 1);
  CHECK(report.coverage.kernels() == 1);
  CHECK_FALSE(report.covers_everything());
  CHECK_THAT(report.coverage.gaps.front(), Contains("process 4711 (app) ends early"));
}

TEST_CASE("a recording that failed says why") {
  std::vector<Event> events = race_events();
  events.emplace_back(RecordingFailed{"No space left on device"});
  CHECK_THAT(problem_of(events), Contains("could not be written on: No space left on device"));
}

TEST_CASE("the options of the run come back, and another form of records is refused") {
  const ScratchFolder folder;
  std::vector<Event> events = race_events();
  write_trace(folder / "trace", events, 0);
  const auto options = recorded_options(*Reader::open(folder / "trace"));
  REQUIRE(options);
  CHECK(options->text == "print-limit=7");
  std::get<StreamBegin>(events.front()).protocol += 1;
  write_trace(folder / "other", events, 0);
  const auto reader = Reader::open(folder / "other");
  REQUIRE(reader);
  REQUIRE_FALSE(recorded_options(*reader));
  CHECK_THAT(recorded_options(*reader).error().message, Contains("this command reads version"));
  CHECK_FALSE(replay(*reader, {}, {}));
}

TEST_CASE("events that make no sense end the replay of their process, with a reason") {
  const std::vector<Event> good = race_events();
  const auto with = [&good](std::size_t at, const Event& event) {
    std::vector<Event> events(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at));
    events.push_back(event);
    return events;
  };
  CHECK_THAT(problem_of({good.begin() + 1, good.end()}), Contains("beginning is missing"));
  CHECK_THAT(problem_of(with(1, good.front())), Contains("begins twice"));
  CHECK_THAT(problem_of(with(3, good[2])), Contains("instruction 1 has the number 0"));
  CHECK_THAT(problem_of(with(4, SitesAdded{.first = {}, .count = 3})), Contains("not described"));
  CHECK_THAT(problem_of(with(6, LaunchDescribed{.id = detector::LaunchId{2}})),
             Contains("launch 2 is out of place"));
  CHECK_THAT(problem_of(with(8, good[7])), Contains("begins out of place"));
  CHECK_THAT(problem_of(with(8, RecordApplied{.launch = detector::LaunchId{2}, .record = {}})),
             Contains("launch 2, which did not run"));
  CHECK_THAT(problem_of(with(8, MemoryForgotten{.address = 16, .bytes = ~std::uint64_t{0}})),
             Contains("no address space"));
  CHECK_THAT(problem_of(with(8, CopyDescribed{.call = detector::CallId{1}})),
             Contains("copy 1 is out of place"));
  CHECK_THAT(problem_of(with(8, CopyBegun{})), Contains("cannot be"));
  CHECK_THAT(problem_of(with(8, ProgramEnded{})), Contains("whole run"));
  std::vector<Event> late = good;
  late.emplace_back(race_end());
  late.emplace_back(DeviceNamed{"x"});
  CHECK_THAT(problem_of(late), Contains("behind its end"));
}

TEST_CASE("a launch of an impossible size has no records") {
  std::vector<Event> events = race_events();
  auto& launch = std::get<LaunchBegun>(events[7]).launch;
  launch.block = {.x = 1U << 31, .y = 4, .z = 1};
  CHECK_THAT(problem_of(events), Contains("did not run"));
}

TEST_CASE("a replay can be stopped") {
  const ScratchFolder folder;
  write_trace(folder / "trace", race_events(), 1);
  const auto reader = Reader::open(folder / "trace");
  REQUIRE(reader);
  int blocks = 0;
  const auto replayed = replay(*reader, {}, [&blocks](std::uint64_t) { return ++blocks < 4; });
  REQUIRE(replayed);
  CHECK(replayed->was_stopped);
  CHECK(blocks == 4);
}

}  // namespace
}  // namespace barracuda::trace
