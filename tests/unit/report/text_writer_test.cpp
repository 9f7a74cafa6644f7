#include "report/text_writer.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

constexpr const char* kRace =
    R"(==================
BARRACUDA: ERROR: inter-block race on global memory (12 occurrences)
  Write of 4 bytes at 0x7f0010 by thread [3,0,0] of block [0,0,0] (warp 0, lane 3):
    #0 add(int*) at add.cu:12
  Read of 4 bytes at 0x7f0010 by thread [3,0,0] of block [1,0,0] (warp 0, lane 3):
    #0 add(int*) at add.cu:14
  Missing order: no synchronisation between block 0 and block 1
  Location: byte 16 of 256 bytes at 0x7f0000 (cudaMalloc)
  Kernel: add(int*), launch 1 on stream 0, launched from main() at add.cu:30
==================
)";

TEST_CASE("a race is one block and the summary the last line") {
  CHECK(text_report(samples::racy_report(), {}) ==
        std::string(kRace) +
            "BARRACUDA SUMMARY: 1 race (12 occurrences), kernels 1/1 instrumented, coverage "
            "complete\n");
}

TEST_CASE("what each side synchronised by last stands under it, also that it is not known") {
  Report report = samples::racy_report();
  std::vector<Access>& accesses = report.findings[0].accesses;
  accesses[0].last_sync = "fence.acq_rel.gpu";
  accesses[0].last_sync_place = {.function = "add(int*)", .file = "add.cu", .line = 9};
  accesses[1].last_sync = "unknown";
  CHECK(text_report(report, {})
            .find("    #0 add(int*) at add.cu:12\n"
                  "    last synchronisation before it: fence.acq_rel.gpu at add.cu:9\n"
                  "  Read of 4 bytes at 0x7f0010 by thread [3,0,0] of block [1,0,0] (warp 0, lane "
                  "3):\n"
                  "    #0 add(int*) at add.cu:14\n"
                  "    last synchronisation before it: not known\n") != std::string::npos);
  accesses[1].last_sync = "none";
  CHECK(text_report(report, {}).find("    before it the thread has not synchronised\n") !=
        std::string::npos);
}

TEST_CASE("a clean run is the summary alone") {
  CHECK(text_report(samples::clean_report(), {}) ==
        "BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete\n");
}

TEST_CASE("without a launch the summary says just that") {
  CHECK(text_report(Report{}, {}) == "BARRACUDA SUMMARY: no kernel was launched\n");
}

TEST_CASE("warnings are counted and named") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings.back().severity = FindingSeverity::kWarning;
  report.findings.back().count = 18;
  CHECK(summary_line(report) ==
        "BARRACUDA SUMMARY: 2 races (1 warning; 30 occurrences), kernels 1/1 instrumented, "
        "coverage complete");
  CHECK(text_report(report, {}).find("BARRACUDA: WARNING: inter-block race") != std::string::npos);
}

TEST_CASE("an inlining chain shows the program's line first, then every frame") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.inlined = {{"cuda::atomic<int>::store", "/usr/local/cuda/include/atomic", 90},
                    {"publish(int*)", "add.cu", 12}};
  access.place = access.inlined[1];
  access.callers = {{"add(int*)", "add.cu", 25}};
  CHECK(text_report(report, {})
            .find("  Write of 4 bytes at 0x7f0010 by thread [3,0,0] of block [0,0,0] (warp 0, lane "
                  "3) at "
                  "add.cu:12:\n"
                  "    #0 cuda::atomic<int>::store at /usr/local/cuda/include/atomic:90 (inlined)\n"
                  "    #1 publish(int*) at add.cu:12\n"
                  "    #2 add(int*) at add.cu:25 (caller)\n") != std::string::npos);
}

TEST_CASE("without line information the PTX line and the way to get lines are named") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.inlined.clear();
  access.place = {.function = "add(int*)", .file = "", .line = 0};
  access.instruction = "st.global.u32";
  access.ptx_line = 57;
  CHECK(text_report(report, {})
            .find("    #0 add(int*), st.global.u32 at line 57 of its PTX (nvcc "
                  "-lineinfo gives source lines)\n") != std::string::npos);
}

TEST_CASE("two launches of one race are both named") {
  Report report = samples::racy_report();
  report.findings[0].accesses[1].launch = 2;
  report.findings[0].accesses[1].stream = 7;
  const std::string text = text_report(report, {});
  CHECK(text.find("launch 1 on stream 0") != std::string::npos);
  CHECK(text.find("launch 2 on stream 7") != std::string::npos);
}

TEST_CASE("barrier divergence names where the threads are") {
  Report report = samples::clean_report();
  Finding finding;
  finding.type = FindingType::kBarrierDivergence;
  finding.missing = "not all threads of block 0 reach barrier 0 together";
  Access waiting = samples::access(AccessOperation::kUnknown, 20, 0);
  waiting.has_address = false;
  waiting.size = 0;
  waiting.note = "waits at barrier 0";
  Access gone = waiting;
  gone.place.line = gone.inlined[0].line = 22;
  gone.note = "has left the kernel";
  finding.accesses = {waiting, gone};
  report.findings = {finding};
  CHECK(text_report(report, {}) ==
        R"(==================
BARRACUDA: ERROR: barrier divergence (1 occurrence)
  Thread [3,0,0] of block [0,0,0] (warp 0, lane 3) waits at barrier 0:
    #0 add(int*) at add.cu:20
  Thread [3,0,0] of block [0,0,0] (warp 0, lane 3) has left the kernel:
    #0 add(int*) at add.cu:22
  Missing order: not all threads of block 0 reach barrier 0 together
  Kernel: add(int*), launch 1 on stream 0, launched from main() at add.cu:30
==================
BARRACUDA SUMMARY: 0 races, 1 barrier divergence, kernels 1/1 instrumented, coverage complete
)");
}

TEST_CASE("a memory error is titled with what was wrong") {
  Report report = samples::clean_report();
  Finding finding;
  finding.type = FindingType::kMemoryError;
  finding.missing = "out-of-bounds write of 4 bytes";
  finding.accesses = {samples::access(AccessOperation::kWrite, 9, 2)};
  report.findings = {finding, finding};
  const std::string text = text_report(report, {});
  CHECK(text.find("BARRACUDA: ERROR: memory error: out-of-bounds write of 4 bytes (1 occurrence)\n"
                  "  Write of 4 bytes at 0x7f0010 by thread [3,0,0] of block [2,0,0]") !=
        std::string::npos);
  CHECK(
      text.ends_with("BARRACUDA SUMMARY: 0 races, 2 memory errors, kernels 1/1 instrumented, "
                     "coverage complete\n"));
}

TEST_CASE("an address in shared memory is an offset") {
  Report report = samples::racy_report();
  report.findings[0].space = "shared";
  report.findings[0].accesses[0].address = 16;
  CHECK(text_report(report, {}).find("  Write of 4 bytes at byte 16 by thread") !=
        std::string::npos);
}

TEST_CASE("what was not covered is listed, each on a line") {
  Report report = samples::clean_report();
  report.coverage.kernels = 2;
  report.coverage.gaps = {"kernel blur(): no PTX (3 launches)", "3 records were malformed"};
  report.suppressed = 2;
  CHECK(text_report(report, {}) ==
        "BARRACUDA: 2 findings suppressed\n"
        "BARRACUDA: not covered: kernel blur(): no PTX (3 launches)\n"
        "BARRACUDA: not covered: 3 records were malformed\n"
        "BARRACUDA SUMMARY: 0 races, kernels 1/2 instrumented, coverage incomplete\n");
}

TEST_CASE("print-limit says how much it left out") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings.push_back(samples::race());
  const std::string text = text_report(report, {.colour = false, .print_limit = 1});
  CHECK(text.starts_with(std::string(kRace) +
                         "BARRACUDA: 2 findings more not printed (print-limit=1)\n"));
  CHECK(text.find("3 races (36 occurrences)") != std::string::npos);
}

TEST_CASE("colour changes nothing but the title") {
  const std::string text = text_report(samples::racy_report(), {.colour = true, .print_limit = 0});
  CHECK(text.find("\033[1;31mBARRACUDA: ERROR: inter-block race on global memory (12 "
                  "occurrences)\033[0m\n") != std::string::npos);
  CHECK(text_report(samples::racy_report(), {}).find('\033') == std::string::npos);
}

}  // namespace
}  // namespace barracuda::report
