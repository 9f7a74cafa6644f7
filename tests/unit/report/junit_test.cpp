#include "report/junit.h"

#include <utility>

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

TEST_CASE("a bug is a test that failed, coverage one that passed") {
  Report report = samples::racy_report();
  report.findings[0].accesses[0].place.file = "a<b>&\"c\".cu";
  report.findings[0].accesses[0].inlined[0].file = "\x01.cu";
  const std::string text = junit_report(report);
  CHECK_THAT(text, Catch::Contains("<testsuite name=\"barracuda: app\" tests=\"2\" failures=\"1\" "
                                   "errors=\"0\" skipped=\"0\">"));
  CHECK_THAT(text, Catch::Contains("<testcase classname=\"app\" name=\"inter-block race on global "
                                   "memory: a&lt;b&gt;&amp;&quot;c&quot;.cu:12 and add.cu:14\">"));
  CHECK_THAT(text, Catch::Contains("<testcase classname=\"app\" name=\"coverage\"></testcase>"));
  CHECK(text.find('\x01') == std::string::npos);
}

TEST_CASE("a test keeps its name, whichever access came first") {
  Report report = samples::racy_report();
  const std::string name = "name=\"inter-block race on global memory: add.cu:12 and add.cu:14\"";
  CHECK_THAT(junit_report(report), Catch::Contains(name));
  std::swap(report.findings[0].accesses[0], report.findings[0].accesses[1]);
  CHECK_THAT(junit_report(report), Catch::Contains(name));
}

TEST_CASE("bytes of another encoding than UTF-8 are replaced, letters of UTF-8 stay") {
  Report report = samples::racy_report();
  report.findings[0].accesses[0].source = "x = 1;  // caf\xe9";
  report.findings[0].accesses[1].source = "y = 2;  // caf\xc3\xa9";
  const std::string text = junit_report(report);
  CHECK_THAT(text, Catch::Contains("x = 1;  // caf\xef\xbf\xbd\n"));
  CHECK_THAT(text, Catch::Contains("y = 2;  // caf\xc3\xa9\n"));
  CHECK(text.find("\xe9\n") == std::string::npos);
}

TEST_CASE("a clean run passes, one that was not covered is skipped, one that failed is an error") {
  Report report = samples::clean_report();
  CHECK_THAT(junit_report(report), Catch::Contains("tests=\"1\" failures=\"0\" errors=\"0\""));
  report.coverage.gaps = {"kernel mul(int*) has no PTX"};
  CHECK_THAT(junit_report(report),
             Catch::Contains("skipped=\"1\"") &&
                 Catch::Contains("<skipped message=\"coverage incomplete\">kernel mul(int*)"));
  report.coverage = {};
  CHECK_THAT(junit_report(report), Catch::Contains(">no kernel was launched\n</skipped>"));
  report.tool_failure = "the trace could not be written";
  CHECK_THAT(junit_report(report), Catch::Contains("errors=\"1\" skipped=\"0\"") &&
                                       Catch::Contains("the trace could not be written\n</error>"));
}

}  // namespace
}  // namespace barracuda::report
