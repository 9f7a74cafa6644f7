#include "report/publish.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "report/exit_status.h"
#include "report/json_writer.h"
#include "report/text_writer.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/stderr_capture.h"

namespace barracuda::report {
namespace {

TEST_CASE("text goes to stderr, JSON to its file") {
  const ScratchFolder folder;
  Options options;
  options.json = folder / "races.json";
  const StderrCapture capture;
  Report report = samples::racy_report();
  CHECK(publish(report, options, 0) == kStatusFindings);
  CHECK(capture.text() == text_report(report, {}));
  report.own_status = 0;
  CHECK(*read_file(options.json) == json_report(report));
}

TEST_CASE("with log-file, stderr stays empty") {
  const ScratchFolder folder;
  Options options;
  options.log_file = folder / "%p.log";
  const StderrCapture capture;
  CHECK(publish(samples::clean_report(), options, 0) == 0);
  CHECK(capture.text().empty());
  CHECK(*read_file(folder / (std::to_string(getpid()) + ".log")) ==
        text_report(samples::clean_report(), {}));
}

TEST_CASE("a file that cannot be written is told and is status 70") {
  const ScratchFolder folder;
  Options options;
  SECTION("and the text goes to a file") {
    options.json = "/dev/full";
    options.log_file = folder / "races.txt";
  }
  SECTION("a folder that does not exist") {
    options.json = "/nonexistent/races.json";
  }
  SECTION("a full disk") {
    options.json = "/dev/full";
  }
  SECTION("a variable that is not set") {
    options.json = "%q{BARRACUDA_NO_SUCH_VARIABLE}.json";
  }
  const StderrCapture capture;
  CHECK(publish(samples::clean_report(), options, 0) == kStatusToolFailed);
  CHECK(capture.text().find("the tool failed: the JSON report could not be written: ") !=
        std::string::npos);
}

TEST_CASE("findings reach stderr when log-file cannot be written") {
  Options options;
  options.log_file = "/dev/full";
  const StderrCapture capture;
  CHECK(publish(samples::racy_report(), options, 0) == kStatusToolFailed);
  CHECK(capture.text().find("inter-block race") != std::string::npos);
  CHECK(capture.text().find("the text report could not be written: ") != std::string::npos);
}

TEST_CASE("under run, files with the process number are the process's, others the run's") {
  const ScratchFolder folder;
  Options options;
  options.json = folder / "all.json";
  options.log_file = folder / "log.%p";
  const std::string log = folder / ("log." + std::to_string(getpid()));
  Report report = samples::racy_report();
  Publisher(options, Publishes::kProcessFiles).finish(report);
  CHECK(report.tool_failure.empty());
  CHECK(read_file(log).has_value());
  CHECK_FALSE(read_file(options.json).has_value());
  std::filesystem::remove(log);
  const StderrCapture capture;
  report.own_status = 0;
  CHECK(Publisher(options, Publishes::kRunFiles).finish(report) == kStatusFindings);
  CHECK_FALSE(read_file(log).has_value());
  CHECK(read_file(options.json).has_value());
  CHECK(capture.text() == summary_line(report) + "\n");
}

TEST_CASE("files grow as findings are found, and the last word is theirs") {
  const ScratchFolder folder;
  Options options;
  options.json = folder / "races.json";
  options.log_file = folder / "races.log";
  REQUIRE(write_file(options.json, "of the last run\n").has_value());
  Publisher publisher(options, Publishes::kEverything);
  Report report = samples::racy_report();
  publisher.update(report);
  const auto line = [&report](std::size_t bug) {
    return json_line(bugs_of(report.findings)[bug], report.model);
  };
  const std::string first = line(0);
  CHECK(*read_file(options.json) == first);
  CHECK(*read_file(options.log_file) == text_block(bugs_of(report.findings)[0], report, {}));
  publisher.update(report);
  CHECK(*read_file(options.json) == first);
  report.findings.push_back(samples::race());
  report.findings[1].fingerprint = "another";
  report.findings[0].count = 99;  // said at the end
  publisher.update(report);
  const std::string second = line(1);
  CHECK(*read_file(options.json) == first + second);
  CHECK(publisher.finish(report) == kStatusFindings);
  CHECK(*read_file(options.json) == json_report(report));
  CHECK(*read_file(options.log_file) == text_report(report, {}));
}

TEST_CASE("report=live prints a finding once, when it is found") {
  Options options;
  options.report = "live";
  Publisher publisher(options, Publishes::kEverything);
  Report report = samples::racy_report();
  const StderrCapture capture;
  publisher.update(report);
  const std::string block = text_block(bugs_of(report.findings)[0], report, {});
  CHECK(capture.text() == block);
  publisher.update(report);
  (void)publisher.finish(report);
  CHECK(capture.text() == block + text_closing(report, {}));
}

TEST_CASE("suppressions may be given as their text, without the file") {
  Options options;
  options.suppressions = "/not/here/any/more";
  Report report = samples::racy_report();
  const std::size_t findings = report.findings.size();
  apply_filters(report, options, "function:*\nfile:*\n");
  CHECK(report.option_error.empty());
  CHECK(report.suppressed + report.findings.size() == findings);
  CHECK(report.suppressed > 0);
  apply_filters(report, options, "no such field");
  CHECK(report.option_error.find("/not/here/any/more") != std::string::npos);
}

TEST_CASE("suppressions that cannot be read are a bad option") {
  const ScratchFolder folder;
  Options options;
  options.suppressions = folder / "suppressions";
  Report report = samples::racy_report();
  apply_filters(report, options);
  CHECK(report.option_error.find("suppressions") != std::string::npos);
  REQUIRE(write_file(options.suppressions, "kernel:add\nnonsense\n").has_value());
  report = samples::racy_report();
  apply_filters(report, options);
  CHECK(report.option_error.find(":2: ") != std::string::npos);
  CHECK(report.findings.size() == 1);
  REQUIRE(write_file(options.suppressions, "kernel:add\n").has_value());
  report = samples::racy_report();
  apply_filters(report, options);
  CHECK(report.option_error.empty());
  CHECK(report.findings.empty());
  CHECK(report.suppressed == 1);
}

}  // namespace
}  // namespace barracuda::report
