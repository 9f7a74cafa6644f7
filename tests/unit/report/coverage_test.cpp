#include "report/coverage.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

TEST_CASE("a run whose kernels were all checked is complete") {
  const Coverage coverage = coverage_of(samples::racy_run());
  CHECK(coverage.complete());
  CHECK(coverage.launches == 1);
  CHECK(coverage.kernels() == 1);
  CHECK(coverage.instrumented.size() == 1);
}

TEST_CASE("records that were malformed are counted, one as well as several") {
  CHECK(malformed_records_gap(1) == "1 record was malformed");
  CHECK(malformed_records_gap(3) == "3 records were malformed");
}

TEST_CASE("a kernel that was not instrumented is named with the reason") {
  RunData run = samples::racy_run();
  run.kernels.push_back({.name = "_Z4blurv",
                         .instrumented = false,
                         .reason = "its fat binary holds no PTX",
                         .launches = 3});
  const Coverage coverage = coverage_of(run);
  CHECK_FALSE(coverage.complete());
  CHECK(coverage.kernels() == 2);
  CHECK(coverage.instrumented.size() == 1);
  CHECK(coverage.gaps ==
        std::vector<std::string>{"kernel blur(): its fat binary holds no PTX (3 launches)"});
}

TEST_CASE("launches that were left out are counted") {
  RunData run = samples::racy_run();
  run.kernels[0].launches = 5;
  run.kernels[0].unchecked_launches = 2;
  run.kernels[0].reason = "launch-skip";
  CHECK(coverage_of(run).gaps ==
        std::vector<std::string>{"kernel add(int*): 2 of 5 launches not checked: launch-skip"});
}

TEST_CASE("what the user left out is no gap, and is counted with the kernels' names") {
  RunData run = samples::racy_run();
  run.kernels[0].launches = 5;
  run.kernels[0].left_out_launches = 2;
  run.kernels.push_back(
      {.name = "_Z4blurv", .reason = "no PTX", .launches = 3, .left_out_launches = 3});
  run.launch_count = 8;
  const Coverage coverage = coverage_of(run);
  CHECK(coverage.complete());
  CHECK(coverage.kernels() == 1);
  CHECK(coverage.left_out_launches == 5);
  CHECK(coverage.left_out_kernels == std::vector<std::string>{"blur()"});
  CHECK_THAT(left_out(coverage), Catch::EndsWith(": 5 launches, among them all of: blur()"));
  CHECK(why_empty(coverage).empty());
}

TEST_CASE("of what the user left out, libraries' kernels are counted") {
  RunData run = samples::racy_run();
  run.kernels.clear();
  for (const char* const name : {"gemm_1", "gemm_2", "fill", "own"}) {
    run.kernels.push_back({.name = name, .launches = 1, .left_out_launches = 1});
  }
  run.kernel_libraries = {
      {"gemm_1", "libcublas.so.13"}, {"gemm_2", "libcublas.so.13"}, {"fill", "libtorch_cuda.so"}};
  run.launch_count = 4;
  Coverage coverage = coverage_of(run);
  CHECK(coverage.left_out_kernels == std::vector<std::string>{"own"});
  CHECK(coverage.libraries.empty());
  CHECK_THAT(left_out(coverage),
             Catch::EndsWith("4 launches, among them all of: own, 3 of libraries "
                             "(libcublas.so.13 2, libtorch_cuda.so 1)"));
  coverage.left_out_kernels.clear();
  CHECK_THAT(left_out(coverage), Catch::EndsWith("among them all of: 3 of libraries "
                                                 "(libcublas.so.13 2, libtorch_cuda.so 1)"));
}

TEST_CASE("what the user left out has its place on a line, however long and many the names are") {
  constexpr std::size_t kColumns = 160;
  constexpr std::string_view kEllipsis = "…";
  const std::string name = "void at::elementwise<" + std::string(600, 'x') + ">(int)";
  Coverage coverage{.launches = 5,
                    .gaps = {},
                    .left_out_launches = 5,
                    .left_out_kernels = {"f1", "f2", "f3", "f4", "f5"}};
  CHECK_THAT(left_out(coverage), Catch::EndsWith("all of: f1, f2, f3, 2 more"));
  coverage.left_out_kernels = {"f1", name + "1", name + "2"};
  const std::string text = left_out(coverage);
  CHECK(text.size() <= kColumns + kEllipsis.size() - 1);
  CHECK_THAT(
      text, Catch::Contains("all of: f1, void at::elementwise<x") && Catch::EndsWith("x…, 1 more"));
  coverage.left_out_libraries = {{"libtorch_cuda.so", {"gemm"}}, {"libcublas.so.13", {"gemm"}}};
  CHECK_THAT(left_out(coverage), Catch::Contains("all of: f1, 2 more, 2 of libraries (lib"));
  coverage.left_out_kernels = {name};
  CHECK_THAT(left_out(coverage), Catch::Contains("all of: void at::elementwise<xx…, 2 of"));
}

TEST_CASE("a name is not cut within a letter") {
  std::string name;
  for (int i = 0; i < 300; ++i) {
    name += "ä";
  }
  Coverage coverage{.launches = 1, .gaps = {}, .left_out_launches = 1, .left_out_kernels = {name}};
  CHECK_THAT(left_out(coverage), Catch::EndsWith("ä…"));
  coverage.left_out_kernels = {"x" + name};
  CHECK_THAT(left_out(coverage), Catch::EndsWith("ä…"));
}

TEST_CASE("a run of which the options leave nothing is not complete") {
  RunData run = samples::racy_run();
  run.kernels[0].left_out_launches = 1;
  const Coverage coverage = coverage_of(run);
  CHECK_FALSE(coverage.complete());
  CHECK(coverage.kernels() == 0);
  CHECK(why_empty(coverage) == "no kernel was checked");
  CHECK(why_empty(Coverage{}) == "no kernel was launched");
}

TEST_CASE("an instruction that is not covered is named with its line, once") {
  RunData run = samples::racy_run();
  ptx::NotCovered gap;
  gap.function = "_Z3addPi";
  gap.instruction = "tex.2d.v4.f32.s32";
  gap.reason = "textures are not logged";
  gap.where = {"", "/src/add.cu", 30, 1};
  gap.count = 2;
  run.not_covered = {gap, gap};
  run.problems = {"3 records were malformed"};
  CHECK(coverage_of(run).gaps ==
        std::vector<std::string>{"tex.2d.v4.f32.s32 in add(int*) at /src/add.cu:30: textures are "
                                 "not logged (2 instructions)",
                                 "3 records were malformed"});
  run.not_covered[0].where = {};
  run.not_covered[0].ptx_line = 88;
  run.not_covered[0].count = 1;
  CHECK(coverage_of(run).gaps[0] ==
        "tex.2d.v4.f32.s32 in add(int*) at line 88 of its PTX: textures are not logged");
}

TEST_CASE("whatever keeps coverage from being complete is named") {
  Report report = samples::clean_report();
  CHECK(gaps_and_failures(report).empty());
  report.coverage.gaps = {"3 records were malformed"};
  report.lost = {"process 7 ended early"};
  report.blocked = {"statically linked"};
  report.coverage.libraries["libcublas.so"].not_instrumented = {"gemm()"};
  const std::vector<std::string> gaps = {
      "3 records were malformed", "process 7 ended early", "statically linked",
      "kernels of libraries that are not instrumented: libcublas.so 1"};
  CHECK(gaps_of(report) == gaps);
  report.option_error = "unknown option 'x'";
  report.tool_failure = "the trace could not be written";
  CHECK(gaps_of(report) == gaps);
  CHECK(failures_of(report) ==
        std::vector<std::string>{"unknown option 'x'", "the trace could not be written"});
  CHECK(gaps_and_failures(report).size() == 6);
}

TEST_CASE("a run without a launch says so, unless the tool has failed") {
  Report report;
  CHECK(gaps_of(report) == std::vector<std::string>{"no kernel was launched"});
  report.coverage.launches = report.coverage.left_out_launches = 2;
  report.coverage.left_out_kernels = {"blur()"};
  CHECK_THAT(gaps_of(report).at(0), Catch::StartsWith("no kernel was checked; left out by ") &&
                                        Catch::EndsWith(": blur()"));
  report.tool_failure = "the trace could not be written";
  CHECK(gaps_and_failures(report) == std::vector<std::string>{"the trace could not be written"});
}

TEST_CASE("numbers agree with their nouns") {
  CHECK(counted(0, "race") == "0 races");
  CHECK(counted(1, "race") == "1 race");
  CHECK(counted(2, "launch") == "2 launches");
}

}  // namespace
}  // namespace barracuda::report
