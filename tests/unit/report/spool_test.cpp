#include "report/spool.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/failed_assertion.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

std::vector<SpooledProcess> spools_in(const ScratchFolder& folder) {
  auto processes = read_spools(folder.path());
  REQUIRE(processes.has_value());
  return *processes;
}

Spool make_spool(const ScratchFolder& folder) {
  auto spool = Spool::create(folder.path());
  REQUIRE(spool.has_value());
  return std::move(*spool);
}

std::string file_of_process(const ScratchFolder& folder) {
  return folder / (std::to_string(getpid()) + ".0.spool");
}

TEST_CASE("a forked child does not write to its parent's spool") {
  const ScratchFolder folder;
  Spool spool = make_spool(folder);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string failed =
        test::failed_assertion([&] { (void)spool.update(samples::racy_report()); });
    _exit(failed.find("spool.cpp") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(test::failed_assertion([&] { (void)spool.update(samples::racy_report()); }).empty());
}

TEST_CASE("a report survives the journey between processes") {
  const ScratchFolder folder;
  Report report = samples::racy_report();
  report.findings[0].accesses[0].callers = {{"caller()", "a.cu", 7}};
  report.findings[0].accesses[0].note = "waits";
  report.coverage.gaps = {"a gap"};
  report.coverage.left_out_libraries = {{"libcublas.so.13", {"gemm"}}};
  report.suppressed = 4;
  report.suppressions = {{"kernel:add", 4}};
  report.known = 2;
  report.processes.push_back({"other", 43, 7});
  report.device = "emulated device";
  report.blocked = {"blocked"};
  report.lost = {"lost"};
  report.option_error = "bad";
  report.tool_failure = "failed";
  report.own_status = 139;
  report.waiting_bytes = 12;
  REQUIRE(make_spool(folder).end(report).has_value());
  const auto processes = spools_in(folder);
  REQUIRE(processes.size() == 1);
  CHECK(processes[0].report == report);
  CHECK(processes[0].process == getpid());
  CHECK(processes[0].program == "barracuda.test.report");
  CHECK(processes[0].has_ended);
}

TEST_CASE("what was found is there before the process has ended") {
  const ScratchFolder folder;
  Spool spool = make_spool(folder);
  CHECK_FALSE(spools_in(folder)[0].has_ended);
  CHECK(spools_in(folder)[0].report.findings.empty());
  Report report = samples::racy_report();
  REQUIRE(spool.update(report).has_value());
  CHECK(spools_in(folder)[0].report.findings == report.findings);
  CHECK_FALSE(spools_in(folder)[0].has_ended);
  report.findings.push_back(samples::race());
  report.findings[0].count = 100;
  report.coverage.launches = 17;
  REQUIRE(spool.update(report).has_value());
  CHECK(spools_in(folder)[0].report == report);
}

TEST_CASE("a spool grows by what is new alone") {
  const ScratchFolder folder;
  Spool spool = make_spool(folder);
  const Report report = samples::racy_report();
  REQUIRE(spool.update(report).has_value());
  const auto before = std::filesystem::file_size(file_of_process(folder));
  REQUIRE(spool.update(report).has_value());
  CHECK(std::filesystem::file_size(file_of_process(folder)) == before);
}

TEST_CASE("findings that are withdrawn are gone") {
  const ScratchFolder folder;
  Spool spool = make_spool(folder);
  REQUIRE(spool.update(samples::racy_report()).has_value());
  REQUIRE(spool.update(samples::clean_report()).has_value());
  CHECK(spools_in(folder)[0].report == samples::clean_report());
}

TEST_CASE("a process that goes on after its last word has not ended") {
  const ScratchFolder folder;
  Spool spool = make_spool(folder);
  REQUIRE(spool.end(samples::clean_report()).has_value());
  CHECK(spools_in(folder)[0].has_ended);
  REQUIRE(spool.update(samples::racy_report()).has_value());
  CHECK_FALSE(spools_in(folder)[0].has_ended);
}

TEST_CASE("a write that was cut off costs what it would have said, and nothing else") {
  const ScratchFolder folder;
  REQUIRE(make_spool(folder).update(samples::racy_report()).has_value());
  const std::string whole = *read_file(file_of_process(folder));
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    REQUIRE(write_file(file_of_process(folder), whole.substr(0, bytes)).has_value());
    const auto processes = spools_in(folder);
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<long>(bytes), '\n');
    REQUIRE(processes.size() == (lines == 0 ? 0 : 1));
    if (lines >= 2) {
      CHECK(processes[0].report.findings == samples::racy_report().findings);
    }
  }
}

TEST_CASE("two programs of one process number are two") {
  const ScratchFolder folder;
  REQUIRE(make_spool(folder).end(samples::racy_report()).has_value());
  REQUIRE(make_spool(folder).end(samples::clean_report()).has_value());
  const auto processes = spools_in(folder);
  REQUIRE(processes.size() == 2);
  CHECK(processes[0].report == samples::racy_report());
  CHECK(processes[1].report == samples::clean_report());
}

TEST_CASE("a spool is for the user's eyes alone") {
  const ScratchFolder folder;
  const Spool spool = make_spool(folder);
  struct stat status{};
  REQUIRE(stat(file_of_process(folder).c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a damaged spool is an error, not a finding less") {
  const ScratchFolder folder;
  REQUIRE(make_spool(folder).end(samples::racy_report()).has_value());
  std::string text = *read_file(file_of_process(folder));
  SECTION("a line that is none") {
    text.insert(text.find('\n') + 1, "{\n");
  }
  SECTION("another version") {
    text.replace(text.find("\"spool\":") + 8, 1, "7");
  }
  REQUIRE(write_file(file_of_process(folder), text).has_value());
  CHECK_FALSE(read_spools(folder.path()).has_value());
}

TEST_CASE("there is a run folder only where the variable names one") {
  const ScratchFolder folder;
  unsetenv(kRunDirectoryVariable);
  CHECK(run_directory().empty());
  setenv(kRunDirectoryVariable, folder.path().c_str(), 1);
  CHECK(run_directory() == folder.path());
  setenv(kRunDirectoryVariable, (folder / "gone").c_str(), 1);
  CHECK(run_directory().empty());
  unsetenv(kRunDirectoryVariable);
}

}  // namespace
}  // namespace barracuda::report
