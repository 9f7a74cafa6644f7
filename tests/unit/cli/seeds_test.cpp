#include "cli/seeds.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::cli {

TEST_CASE("the runs are round robin, reversed, then random, each a single one") {
  Options options;
  options.seeds = 4;
  options.json = "all.jsonl";
  options.log_file = "log.%p";
  const auto schedule = [&](std::uint64_t number) {
    return to_string(options_of_run(options, number));
  };
  CHECK(schedule(0) == "log-file=log.%p:schedule=round-robin");
  CHECK(schedule(1) == "log-file=log.%p:schedule=reversed");
  CHECK(schedule(2) == "log-file=log.%p:schedule=random:seed=1");
  CHECK(schedule(3) == "log-file=log.%p:schedule=random:seed=2");
  for (std::uint64_t number = 0; number < options.seeds; ++number) {
    Options run = options_of_run(options, number);
    CHECK(resolve_schedule(run));
  }
  CHECK(schedule_of_run(1) == "schedule=reversed");
  CHECK(schedule_of_run(2) == "seed=1");
}

TEST_CASE("of several runs the findings are joined, and the kernels are counted once") {
  report::Report other = report::samples::racy_report();
  other.findings.front().kind = "inter-kernel";
  other.coverage.gaps = {"a gap"};
  const report::Report one = report::samples::racy_report();
  const report::Report all = merge_runs({one, other, one});
  CHECK(all.findings.size() == 2);
  CHECK(all.coverage.kernels() == one.coverage.kernels());
  CHECK(all.coverage.instrumented == one.coverage.instrumented);
  CHECK(all.coverage.gaps == std::vector<std::string>{"a gap"});
}

}  // namespace barracuda::cli
