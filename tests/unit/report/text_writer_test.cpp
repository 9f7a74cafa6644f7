#include "report/text_writer.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>

#include "report/line_fold.h"
#include "report/resolve.h"
#include "report/sentences.h"
#include "report/text_style.h"
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
  See: docs/FINDINGS.md#inter-block
==================
)";

TEST_CASE("a race is one block and the summary the last line") {
  CHECK(text_report(samples::racy_report(), {}) ==
        std::string(kRace) +
            "BARRACUDA SUMMARY: 1 race (12 occurrences), kernels 1/1 instrumented, coverage "
            "complete\n");
}

TEST_CASE("the location is said to be one of several") {
  Report report = samples::racy_report();
  report.findings[0].has_other_places = true;
  CHECK_THAT(text_report(report, {}),
             Catch::Contains("  Location: byte 16 of 256 bytes at 0x7f0000 (cudaMalloc), among "
                             "other places\n"));
  report.findings[0].location = "";
  CHECK_THAT(text_report(report, {}), !Catch::Contains("other places"));
}

TEST_CASE("of a vector the bytes that the instruction accesses are said, and which of them race") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.instruction = "st.global.v4.f32";
  CHECK_THAT(text_report(report, {}),
             Catch::Contains("  Write of 16 bytes, 4 of them at 0x7f0010, by thread [3,0,0] of"));
  access.instruction = "st.shared.v2.u16";
  access.size = 2;
  report.findings[0].space = "shared";
  access.address = 160;
  CHECK_THAT(text_report(report, {}),
             Catch::Contains("  Write of 4 bytes, 2 of them at byte 160, by thread [3,0,0] of"));
  access.instruction = "st.shared.u16";
  CHECK_THAT(text_report(report, {}),
             Catch::Contains("  Write of 2 bytes at byte 160 by thread [3,0,0] of"));
}

TEST_CASE("what each side synchronised by last stands under it, as far as it is known") {
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
                  "  Missing order: ") != std::string::npos);
  accesses[0].last_sync_source = "__threadfence();";
  CHECK_THAT(text_report(report, {}),
             Catch::Contains("before it: fence.acq_rel.gpu at add.cu:9 | __threadfence();\n"));
  accesses[1].instruction = "cp.async.ca.shared.global";
  CHECK_THAT(text_report(report, {}),
             Catch::Contains("    #0 add(int*) at add.cu:14\n"
                             "    asynchronous: takes place at any time between this line and the "
                             "wait for it\n"));
  accesses[1].instruction = "ld.global.u32";
  accesses[1].last_sync = "none";
  CHECK(text_report(report, {}).find("    no synchronisation by this thread before it\n") !=
        std::string::npos);
}

Report report_of_sum() {
  Report report = samples::racy_report();
  for (std::uint32_t i = 1; i < 5; ++i) {
    Finding race = samples::race();
    race.fingerprint = std::to_string(i);
    race.accesses[1].place.line += i;
    report.findings.push_back(race);
  }
  return report;
}

TEST_CASE("bugs that are alike are one block, with a line for each") {
  const std::string text = text_report(report_of_sum(), {});
  CHECK_THAT(text, Catch::Contains("  The same order is missing between 4 more pairs of accesses:\n"
                                   "    write at add.cu:12 and read at add.cu:15 (12 occurrences)\n"
                                   "    write at add.cu:12 and read at add.cu:16 (12 occurrences)\n"
                                   "    write at add.cu:12 and read at add.cu:17 (12 occurrences)\n"
                                   "    write at add.cu:12 and read at add.cu:18 (12 occurrences)\n"
                                   "  See: docs/FINDINGS.md#inter-block\n"));
  CHECK_THAT(text, Catch::Contains("BARRACUDA SUMMARY: 5 races (60 occurrences)"));
  CHECK(text.find("BARRACUDA: ERROR") == text.rfind("BARRACUDA: ERROR"));
}

TEST_CASE("a limit of blocks counts the bugs that it leaves out") {
  Report report = report_of_sum();
  Finding other = samples::race();
  other.fingerprint = "other";
  other.missing = "something else";
  report.findings.insert(report.findings.begin(), other);
  CHECK_THAT(text_report(report, {.print_limit = 1}),
             Catch::Contains("BARRACUDA: 5 more findings not printed (print-limit=1)\n"));
}

TEST_CASE("compilers and GitHub get a line for each of bugs that are alike") {
  const Report report = report_of_sum();
  for (const TextFormat format : {TextFormat::kGcc, TextFormat::kGithub}) {
    const std::string text = text_report(report, {.format = format});
    for (const char* const line : {"14", "15", "16", "17", "18"}) {
      CHECK_THAT(text, Catch::Contains(line));
    }
  }
}

TEST_CASE("without line information the PTX line is shown, and -lineinfo is advised once") {
  RunData run = samples::racy_run();
  for (ptx::Site& site : run.sites.own()) {
    site.frames = {{.function = "_Z3addPi", .file = "", .line = 0, .column = 0}};
  }
  const std::string text = text_report(resolve(run, Options{}), {});
  CHECK_THAT(text, Catch::Contains("    #0 add(int*), st.global.u32 at line 40 of its PTX\n"));
  CHECK_THAT(text, Catch::Contains("    #0 add(int*), st.global.u32 at line 41 of its PTX\n"));
  const std::size_t advice = text.find("built without line information: add(int*). nvcc -lineinfo");
  CHECK(advice != std::string::npos);
  CHECK(text.find("-lineinfo", advice + text.substr(advice).find("-lineinfo") + 1) ==
        std::string::npos);
}

TEST_CASE("what the options left out stands in one line, and nothing but that in the summary") {
  Report report = samples::clean_report();
  report.coverage.left_out_launches = 1;
  CHECK_THAT(text_report(report, {}),
             Catch::StartsWith("BARRACUDA: left out by kernel-name") &&
                 Catch::EndsWith("kernels 1/1 instrumented, coverage complete\n"));
  report.coverage = {
      .launches = 1, .gaps = {}, .left_out_launches = 1, .left_out_kernels = {"add(int*)"}};
  CHECK_THAT(text_report(report, {}),
             Catch::Contains("1 launch, among them all of: add(int*)\n") &&
                 Catch::EndsWith("BARRACUDA SUMMARY: no kernel was checked (what is in the way: "
                                 "barracuda doctor -- ./app)\n"));
}

TEST_CASE("a clean run is the summary alone") {
  CHECK(text_report(samples::clean_report(), {}) ==
        "BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete\n");
}

TEST_CASE("without a launch the summary says just that") {
  CHECK(text_report(Report{}, {}) ==
        "BARRACUDA SUMMARY: no kernel was launched (what is in the way: barracuda doctor -- "
        "./app)\n");
}

TEST_CASE("warnings are counted and named") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings.back().fingerprint = "another";
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
                  "3) at add.cu:12:\n"
                  "    #0 cuda::atomic<int>::store at /usr/local/cuda/include/atomic:90 (inlined)\n"
                  "    #1 publish(int*) at add.cu:12\n"
                  "    #2 add(int*) at add.cu:25 (caller)\n") != std::string::npos);
}

TEST_CASE("the program's line is quoted under the frame that is in it, and once") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.source = "sums[i] += x;";
  access.callers = {access.place};  // recursion
  CHECK_THAT(text_report(report, {}), Catch::Contains("    #0 add(int*) at add.cu:12\n"
                                                      "       12 | sums[i] += x;\n"
                                                      "    #1 add(int*) at add.cu:12 (caller)\n"));
}

TEST_CASE("frames of CUDA's headers are folded into one line") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.inlined = {{"cub::detail::copy", "/usr/local/cuda/include/cccl/cub/copy.cuh", 60},
                    {"cub::BlockReduce::Sum", "/usr/local/cuda/include/cccl/cub/reduce.cuh", 518},
                    {"publish(int*)", "add.cu", 12}};
  access.place = access.inlined[2];
  CHECK(text_report(report, {})
            .find("3) at add.cu:12:\n"
                  "    … 2 frames of CUDA's headers\n"
                  "    #2 publish(int*) at add.cu:12\n") != std::string::npos);
  access.inlined.pop_back();
  access.place = access.inlined[0];
  const std::string text = text_report(report, {});
  CHECK(text.find("#0 cub::detail::copy at ") != std::string::npos);
  CHECK(text.find("#1 cub::BlockReduce::Sum at ") != std::string::npos);
}

TEST_CASE("of a kernel of CUDA's headers the frame of the access is shown") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.inlined = {{"load", "/usr/local/cuda/include/cccl/cub/load.cuh", 60},
                    {"load_tile", "/usr/local/cuda/include/cccl/cub/tile.cuh", 5},
                    {"Agent::run", "/usr/local/cuda/include/cccl/cub/agent.cuh", 518},
                    {"kernel", "/usr/local/cuda/include/cccl/cub/kernel.cuh", 12}};
  access.place = access.inlined[0];
  access.source = "return *at;";
  CHECK_THAT(
      text_report(report, {}),
      Catch::Contains("    #0 load at /usr/local/cuda/include/cccl/cub/load.cuh:60 (inlined)\n"
                      "       60 | return *at;\n"
                      "    … 3 frames of CUDA's headers\n"
                      "  Read of 4 bytes"));
  CHECK_THAT(text_report(report, {.has_all_frames = true}),
             Catch::Contains("    #2 Agent::run at "));
}

TEST_CASE("variants of a bug stand in its block, and it counts once") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings[1].kind = "intra-warp";
  report.findings[1].accesses[1].operation = AccessOperation::kWrite;
  report.findings[1].severity = FindingSeverity::kWarning;
  report.findings.push_back(samples::race());
  report.findings[2].accesses[0].kernel = "void add<float>(float*)";
  report.findings[2].count = 1;
  const std::string text = text_report(report, {});
  CHECK(text.find("BARRACUDA: ERROR: inter-block race on global memory (25 occurrences)\n") !=
        std::string::npos);
  CHECK(text.find("  Also: inter-block, write and read in void add<float>(float*) (1 occurrence)\n"
                  "  Also: warning, intra-warp, write and write (12 occurrences)\n") !=
        std::string::npos);
  CHECK(text.find("SUMMARY: 1 race (25 occurrences)") != std::string::npos);
}

TEST_CASE("of several processes the report names those that met a bug") {
  Report report = samples::racy_report();
  for (const std::int64_t rank : {0, 1, 2, 5}) {
    report.processes.push_back({"solver", 100 + rank, rank});
  }
  report.findings[0].processes = report.processes;
  CHECK(text_report(report, {}).find("  Seen in: process 42 of app; ranks 0-2, 5 of solver\n") !=
        std::string::npos);
  report.processes.resize(1);
  CHECK(text_report(report, {}).find("Seen in") == std::string::npos);
}

TEST_CASE("what is left out of CUDA's libraries is one line, which says why") {
  Report report = samples::clean_report();
  report.suppressions = {{"kernel:Sort library:*", 1, "blocks wait for each other"}};
  CHECK(text_report(report, {})
            .starts_with("BARRACUDA: 1 finding in code of libraries or a compiler left out "
                         "(library-suppressions=0 shows it): blocks wait for each other\n"));
}

TEST_CASE("suppressions are told, used or not, and what the baseline knows") {
  Report report = samples::clean_report();
  report.suppressed = 2;
  report.suppressions = {{"kernel:add", 2}, {"file:old.cu", 0}};
  report.known = 1;
  CHECK(text_report(report, {})
            .starts_with("BARRACUDA: 2 findings suppressed\n"
                         "BARRACUDA: 2 findings suppressed by kernel:add\n"
                         "BARRACUDA: suppression not used: file:old.cu\n"
                         "BARRACUDA: 1 finding known from the baseline\n"));
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
  See: docs/FINDINGS.md#barrier-divergence
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

TEST_CASE("a timeout and a deadlock are titled with what the kernel did") {
  Report report = samples::clean_report();
  Finding timeout;
  timeout.type = FindingType::kTimeout;
  timeout.missing = "kernel add(int*) did not end within 2 s (launch-timeout)";
  timeout.accesses = {samples::access(AccessOperation::kUnknown, 9, 2)};
  timeout.accesses.front().note = "runs here";
  timeout.accesses.front().has_address = false;
  Finding deadlock = timeout;
  deadlock.type = FindingType::kDeadlock;
  deadlock.missing = "deadlock: all threads of block (2,0,0) wait";
  report.findings = {timeout, deadlock};
  const std::string text = text_report(report, {});
  CHECK(text.find("ERROR: timeout: kernel add(int*) did not end within 2 s (launch-timeout) "
                  "(1 occurrence)\n  Thread [3,0,0] of block [2,0,0] (") != std::string::npos);
  CHECK(text.find(" runs here:\n    #0 add(int*) at add.cu:9\n") != std::string::npos);
  CHECK(text.find("ERROR: deadlock: all threads of block (2,0,0) wait (1 occurrence)") !=
        std::string::npos);
  CHECK(text.find("Missing order") == std::string::npos);
  CHECK(text.find("SUMMARY: 0 races, 1 timeout, 1 deadlock, ") != std::string::npos);
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
  report.coverage.not_instrumented = {"blur()"};
  report.coverage.gaps = {"kernel blur(): no PTX (3 launches)", "3 records were malformed"};
  report.suppressed = 2;
  CHECK(text_report(report, {}) ==
        "BARRACUDA: 2 findings suppressed\n"
        "BARRACUDA: not covered: kernel blur(): no PTX (3 launches)\n"
        "BARRACUDA: not covered: 3 records were malformed\n"
        "BARRACUDA SUMMARY: 0 races, kernels 1/2 instrumented, coverage incomplete\n");
}

TEST_CASE("kernels of libraries are counted apart, on one line") {
  Report report = samples::clean_report();
  report.coverage.libraries["libcublas.so.13"].not_instrumented = {"gemm()"};
  report.coverage.libraries["libtorch_cuda.so"] = {.instrumented = {"fill()"},
                                                   .not_instrumented = {"sort()", "scan()"}};
  CHECK(text_report(report, {}) ==
        "BARRACUDA: not covered: kernels of libraries that are not instrumented: "
        "libtorch_cuda.so 2, libcublas.so.13 1\n"
        "BARRACUDA SUMMARY: 0 races, kernels 1/1 of the program, 1/4 of libraries "
        "(libtorch_cuda.so 2, libcublas.so.13 1), coverage complete but for libraries\n");
  report.coverage.not_instrumented = {"blur()"};
  CHECK_THAT(summary_line(report), Catch::EndsWith("coverage incomplete"));
  report.coverage.not_instrumented.clear();
  report.coverage.libraries = {
      {"libmine.so", {.instrumented = {"mine()"}, .not_instrumented = {}}}};
  CHECK_THAT(summary_line(report),
             Catch::EndsWith(", kernels 1/1 of the program, 1/1 of libraries, coverage complete"));
}

TEST_CASE("print-limit says how much it left out") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings.push_back(samples::race());
  report.findings[1].fingerprint = "second";
  report.findings[2].fingerprint = "third";
  const std::string text = text_report(report, {.colour = false, .print_limit = 1});
  CHECK(text.starts_with(std::string(kRace) +
                         "BARRACUDA: 2 more findings not printed (print-limit=1)\n"));
  CHECK(text.find("3 races (36 occurrences)") != std::string::npos);
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    widest = std::max(widest, columns_of(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

TEST_CASE("a time limit is one line, and another signal as well") {
  Report report = samples::racy_report();
  report.own_status = status_of_signal(SIGTERM);
  CHECK_THAT(text_report(report, {}), Catch::Contains("the program was ended by signal 15"));
  report.coverage.gaps = {ended_by_limit("the program", 7)};
  CHECK_THAT(
      text_report(report, {}),
      Catch::Contains("not covered: the program was ended after 7 seconds (time-limit): what "
                      "ran then may not be checked to its end\n") &&
          !Catch::Contains("by signal"));
}

TEST_CASE("all frames are shown if they are asked for") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.inlined = {{"cub::detail::copy", "/usr/local/cuda/include/cccl/cub/copy.cuh", 60},
                    {"cub::BlockReduce::Sum", "/usr/local/cuda/include/cccl/cub/reduce.cuh", 518},
                    {"publish(int*)", "add.cu", 12}};
  access.place = access.inlined[2];
  const std::string text = text_report(report, {.has_all_frames = true});
  CHECK_THAT(text, Catch::Contains("    #0 cub::detail::copy at ") &&
                       Catch::Contains("    #1 cub::BlockReduce::Sum at ") &&
                       !Catch::Contains("frames of CUDA's headers"));
}

TEST_CASE("no line is wider than the limit, whatever the names, but the summary") {
  Report report = samples::racy_report();
  const std::string name = "void ns::kernel<ns::policy<" + std::string(300, 'x') +
                           ", int>, float>(" + std::string(200, 'y') + "*)";
  for (Access& access : report.findings[0].accesses) {
    access.kernel = name;
    access.place.function = name;
    access.inlined = {access.place};
  }
  report.coverage.gaps = {"kernel " + name + ": it has no PTX"};
  for (const std::size_t columns : {60U, 100U, 160U}) {
    const std::string text = text_report(report, {.columns = columns});
    const std::size_t summary = text.find("BARRACUDA SUMMARY");
    CHECK(widest_line(text.substr(0, summary)) <= columns);
    CHECK(text.find('\n', summary) + 1 == text.size());
  }
  CHECK(widest_line(text_report(report, {})) > 500);
}

TEST_CASE("simple names lose what there is no room for") {
  Report report = samples::racy_report();
  report.findings[0].accesses[0].kernel =
      "void ns::kernel<ns::policy<" + std::string(300, 'x') + ", int>, float>(int*)";
  CHECK_THAT(text_report(report, {.has_simple_names = true}),
             Catch::Contains("  Kernel: void ns::kernel<ns::policy<…>, float>(int*), launch 1"));
  CHECK_THAT(text_report(report, {}), Catch::Contains(std::string(300, 'x')));
}

TEST_CASE("a prefix is taken off file names, and off nothing else") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.place = {.function = "add(int*)", .file = "/home/u/app/src/add.cu", .line = 12};
  access.inlined = {access.place};
  access.launched_from = "main() at /home/u/app/main.cu:3";
  report.findings[0].accesses[1].place.file = "/other/home/u/app/add.cu";
  report.findings[0].accesses[1].inlined = {report.findings[0].accesses[1].place};
  const std::string text = text_report(report, {.prefix = "/home/u/app/"});
  CHECK_THAT(text, Catch::Contains("#0 add(int*) at src/add.cu:12\n") &&
                       Catch::Contains("launched from main() at main.cu:3\n") &&
                       Catch::Contains(" at /other/home/u/app/add.cu:14\n"));
}

TEST_CASE("the options choose how text is laid out") {
  Options options;
  const TextStyle usual = text_style(options, TextTarget::kFile);
  CHECK_FALSE(usual.colour);
  CHECK(usual.columns == 160);
  CHECK_FALSE(usual.has_all_frames);
  CHECK(usual.has_simple_names);
  CHECK(usual.prefix == std::filesystem::current_path().string() + "/");
  options.width = "72";
  options.frames = "all";
  options.demangle = "full";
  options.strip_paths = "/home/u/";
  const TextStyle other = text_style(options, TextTarget::kFile);
  CHECK(other.columns == 72);
  CHECK(other.has_all_frames);
  CHECK_FALSE(other.has_simple_names);
  CHECK(other.prefix == "/home/u/");
  options.strip_paths = "none";
  options.width = "0";
  CHECK(text_style(options, TextTarget::kFile).prefix.empty());
  CHECK(text_style(options, TextTarget::kFile).columns == 0);
}

TEST_CASE("colour changes nothing but the title") {
  const std::string text = text_report(samples::racy_report(), {.colour = true, .print_limit = 0});
  CHECK(text.find("\033[1;31mBARRACUDA: ERROR: inter-block race on global memory (12 "
                  "occurrences)\033[0m\n") != std::string::npos);
  CHECK(text_report(samples::racy_report(), {}).find('\033') == std::string::npos);
}

}  // namespace
}  // namespace barracuda::report
