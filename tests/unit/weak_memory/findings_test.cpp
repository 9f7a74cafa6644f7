#include "weak_memory/findings.h"

#include <catch2/catch.hpp>

#include "report/weak_json.h"
#include "report/weak_text.h"
#include "tests/unit/weak_memory/handshakes.h"

namespace barracuda::weak_memory {
namespace {

using testing::Handshake;
using testing::Handshakes;

report::WeakReport report_on(Handshakes program) {
  Oracle oracle({});
  Trials trials(one_by_one(std::ref(program)), oracle, [] { return false; });
  return report_of(run_campaign({}, trials, [](const std::string&) {}));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the report of a missing fence names the store, the reader and the line") {
  const report::WeakReport report = report_on(Handshakes({Handshake{}}));
  const std::string text = weak_text_report(report, {});
  INFO(text);
  CHECK(has(text,
            "BARRACUDA: ERROR: weak-memory failure: wrong output in 20 of 20 runs (0 of 5 without "
            "delays)"));
  CHECK(has(text,
            "  Delayed: store of 4 bytes at 0x0 by thread [0,0,0] of block [0,0,0]\n"
            "    #0 pass() at pass.cu:10\n"));
  CHECK(has(text, "  Visible: 7 turns of the schedule later, at a release\n"));
  CHECK(has(text,
            "  Missing: a fence (acq_rel, scope gpu) behind pass.cu:10, e.g. "
            "__threadfence()\n"));
  CHECK(has(text, "  Data: global; kernel pass(); 1 decision; 2 of 3 candidate fences left out\n"));
  CHECK(has(text,
            "BARRACUDA SUMMARY: 1 weak-memory failure (wrong output in 20 of 20 runs), 1 "
            "missing fence, kernels 1/1 covered\n"));
  const std::string json = weak_json_report(report);
  CHECK(has(json, R"("type":"weak-memory-failure")"));
  CHECK(has(json, R"("mechanism":"delayed-store")"));
  CHECK(has(json, R"("type":"missing-fence")"));
  CHECK(has(json, R"json("kind":"acq_rel","scope":"gpu","cuda":"__threadfence()")json"));
  CHECK(has(json, R"("weak_memory":{"failures":1,"missing_fences":1)"));
}

TEST_CASE("a program that passes is never called correct") {
  const report::WeakReport report = report_on(Handshakes({Handshake{.is_fenced = true}}));
  CHECK(weak_text_report(report, {}) ==
        "BARRACUDA SUMMARY: no failure in 80 runs, kernels 1/1 covered\n");
}

TEST_CASE("what fails by itself is said to") {
  Handshakes program({Handshake{}});
  program.is_always_wrong = true;
  const report::WeakReport report = report_on(std::move(program));
  CHECK(weak_summary_line(report) ==
        "BARRACUDA SUMMARY: fails without delays (another exit status, status 1, 5 of 5 runs), "
        "kernels 1/1 covered");
  CHECK(has(weak_json_report(report), R"("failure":"fails-without-delays")"));
}

TEST_CASE("the table of drains has the lengths that there were") {
  CampaignResult result;
  result.drains[0][1] = 70;
  result.drains[1][2] = 3;
  CHECK(drain_table(result) ==
        std::vector<std::string>{"drains that found so many stores (global, shared):",
                                 "     1         70          0", "     2          0          3"});
}

}  // namespace barracuda::weak_memory
