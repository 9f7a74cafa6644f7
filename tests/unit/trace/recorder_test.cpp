#include "trace/recorder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace/sample.h"
#include "trace/replay.h"

namespace barracuda::trace {
namespace {

using Catch::Contains;

Options options_for(const std::string& path) {
  Options options;
  options.record = path;
  return options;
}

// Tells a recorder what the session and the pipeline would.
void record_race(Recorder& recorder) {
  for (const Event& event : race_events()) {
    if (const auto* const site = std::get_if<SiteDescribed>(&event)) {
      recorder.sites_described({site->site});
    } else if (const auto* const added = std::get_if<SitesAdded>(&event)) {
      recorder.sites_added(added->first, std::vector<wire::SiteInfo>(added->count));
    } else if (const auto* const launch = std::get_if<LaunchDescribed>(&event)) {
      recorder.launch_described({.id = launch->id,
                                 .kernel = "_Z4writePi",
                                 .stream = launch->stream,
                                 .grid = launch->grid,
                                 .block = launch->block,
                                 .host_stack = {}});
    } else if (const auto* const begun = std::get_if<LaunchBegun>(&event)) {
      recorder.launch_begun(begun->launch);
    } else if (const auto* const record = std::get_if<RecordApplied>(&event)) {
      recorder.record_applied(record->launch, record->record);
    }
  }
}

Replayed replayed(const std::string& path) {
  const auto reader = Reader::open(path);
  REQUIRE(reader);
  CHECK(reader->damages().empty());
  auto result = replay(*reader, {}, {});
  REQUIRE(result);
  return std::move(*result);
}

TEST_CASE("without the option there is no recorder") {
  CHECK(Recorder::create(Options{}) == nullptr);
}

TEST_CASE("what is recorded can be replayed, with the data of the report") {
  const ScratchFolder folder;
  const auto recorder = Recorder::create(options_for(folder / "trace-%p"));
  record_race(*recorder);
  report::RunData run;
  run.used_cuda = true;
  run.launch_count = 1;
  run.device = "a device";
  run.allocations.push_back(
      {.address = 0xf00, .bytes = 1024, .description = "cudaMalloc", .freed = true});
  run.problems = {"a gap"};
  run.kernels.push_back({.name = "_Z4writePi", .instrumented = true, .reason = "", .launches = 1});
  CHECK(recorder->finish(run));
  const Replayed result = replayed(folder / ("trace-" + std::to_string(getpid())));
  REQUIRE(result.processes.size() == 1);
  const report::RunData& again = result.processes.front().run;
  CHECK(again.findings.races.size() == 1);
  CHECK(again.problems == run.problems);
  CHECK(again.device == run.device);
  REQUIRE(again.allocations.size() == 1);
  CHECK(again.allocations.front().description == "cudaMalloc");
  CHECK(again.allocations.front().freed);
  REQUIRE(again.kernels.size() == 1);
  CHECK(again.launches.size() == 1);
}

TEST_CASE("what comes after the findings were read is not recorded") {
  const ScratchFolder folder;
  const auto recorder = Recorder::create(options_for(folder / "trace"));
  recorder->findings_read();
  record_race(*recorder);
  CHECK(recorder->finish({}));
  CHECK(replayed(folder / "trace").processes.front().run.findings.races.empty());
}

TEST_CASE("a forked child writes nothing to its parent's trace") {
  const ScratchFolder folder;
  const auto recorder = Recorder::create(options_for(folder / "trace"));
  record_race(*recorder);
  const pid_t child = fork();
  if (child == 0) {
    recorder->abandon();
    record_race(*recorder);
    _exit(recorder->finish({}) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(recorder->finish({}));
  CHECK(replayed(folder / "trace").processes.front().run.findings.races.size() == 1);
}

TEST_CASE("a file that cannot be written is an error at the end, and nothing before") {
  for (const std::string path : {"/dev/full", "/no/such/folder/trace", "/tmp"}) {
    const auto recorder = Recorder::create(options_for(path));
    REQUIRE(recorder != nullptr);
    record_race(*recorder);
    recorder->queues_idle();
    const auto finished = recorder->finish({});
    REQUIRE_FALSE(finished);
    CHECK(finished.error().file == path);
  }
  CHECK_FALSE(record_without_device({}, options_for("/dev/full")));
  CHECK_FALSE(record_program_end("/dev/full", {}));
}

TEST_CASE("the run's own end stands beside the processes'") {
  const ScratchFolder folder;
  CHECK(record_without_device({}, options_for(folder / "trace")));
  CHECK(record_program_end(folder / "trace",
                           {.options = {}, .status = 5, .lost = {"one"}, .blocked = {}}));
  const Replayed result = replayed(folder / "trace");
  CHECK(result.processes.size() == 1);
  REQUIRE(result.program);
  CHECK(result.program->status == 5);
  CHECK(result.program->lost == std::vector<std::string>{"one"});
}

}  // namespace
}  // namespace barracuda::trace
