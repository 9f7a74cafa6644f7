#include "weak_memory/hardening.h"

#include <algorithm>
#include <variant>

#include <catch2/catch.hpp>

#include "tests/unit/weak_memory/handshakes.h"

namespace barracuda::weak_memory {
namespace {

using testing::Handshake;
using testing::Handshakes;
using End = HardeningResult::End;

HardeningResult harden(Handshakes program, HardeningOptions options = {},
                       std::uint64_t most_runs = 1'000'000) {
  Oracle oracle({});
  Trials trials(one_by_one(std::ref(program)), oracle,
                [&program, most_runs] { return program.runs > most_runs; });
  return harden(options, trials, [](const std::string&) {});
}

std::vector<std::uint32_t> lines(const std::vector<CandidateFence>& some) {
  std::vector<std::uint32_t> numbers;
  for (const CandidateFence& each : some) {
    numbers.push_back(each.is_own() ? each.own.front().lines.front().line
                                    : each.added.front().place.lines.front().line);
  }
  return numbers;
}

const Handshake kOpen{.data_line = 10, .flag_line = 14};
const Handshake kFenced{.is_fenced = true, .data_line = 20, .flag_line = 23};

}  // namespace

TEST_CASE(
    "a fence behind every access is reduced to the one that is needed, as weak as it may be") {
  const HardeningResult result = harden(Handshakes({kOpen}), {.stores_only = true});
  CHECK(result.end == End::kReduced);
  CHECK(result.places == 5);
  CHECK(result.own == 0);
  CHECK(lines(result.kept) == std::vector<std::uint32_t>{10});  // right behind the store
  CHECK(result.kept.front().added.front().fence ==
        ptx::Fence{.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kGpu});
  CHECK(result.as_it_is.failures > 0);
  CHECK(result.failure == Failure::kOutput);
  CHECK(result.stable_runs == 500);
}

TEST_CASE("a place of several accesses is told as the fence that does for all of them") {
  const auto fence = [](wire::Scope scope) {
    return Fence{.place = {.at = {.function = "f", .ordinal = 1}},
                 .fence = {.order = wire::MemoryOrder::kAcqRel, .scope = scope}};
  };
  HardeningResult result;
  result.end = End::kReduced;
  result.kept = {{.added = {fence(wire::Scope::kCta), fence(wire::Scope::kGpu)}, .own = {}}};
  const report::HardeningReport report = report_of(result);
  REQUIRE(report.missing.size() == 1);
  CHECK(report.missing.front().scope == "gpu");
}

TEST_CASE("the program's own fence is kept where it is needed, and told where it is not") {
  const Handshake idle{.kernel = "_Z4idlev", .is_fenced = true, .data_line = 30, .flag_line = 30};
  Handshakes program({kFenced, idle});
  program.harmless = 0;  // of the second handshake no store is ever delayed
  const HardeningResult result = harden(program);
  CHECK(result.end == End::kReduced);
  CHECK(result.own == 2);
  CHECK(lines(result.kept) == std::vector<std::uint32_t>{1020});
  CHECK(lines(result.left_out_own) == std::vector<std::uint32_t>{1030});
  CHECK(result.as_it_is.failures == 0);
}

TEST_CASE("own fences that are not to be tried stay and are not told") {
  const HardeningResult result = harden(Handshakes({kOpen, kFenced}), {.keeps_fences = true});
  CHECK(result.end == End::kReduced);
  CHECK(result.own == 0);
  CHECK(lines(result.kept) == std::vector<std::uint32_t>{13});
  CHECK(result.left_out_own.empty());
}

TEST_CASE("what seldom fails is found by the runs that show it stable, and searched anew") {
  // A store that few runs delay: 8 runs do not always see it.
  const HardeningResult result =
      harden(Handshakes({kOpen}), {.iterations = 1, .stable = 400, .probabilities = {0.01}});
  CHECK(result.end == End::kReduced);
  CHECK(result.iterations > 1);
  CHECK(lines(result.kept) == std::vector<std::uint32_t>{13});
}

TEST_CASE("what fences do not cure is said so, and what fails without delays") {
  Handshakes by_schedule({kOpen});
  by_schedule.bad_schedule = 20;  // behind the reference runs
  CHECK(harden(by_schedule).end == End::kNotCured);
  Handshakes wrong({kOpen});
  wrong.is_always_wrong = true;
  const HardeningResult result = harden(wrong);
  CHECK(result.end == End::kReferenceFails);
  CHECK(result.references.failures == 5);
}

TEST_CASE("where the time is over nothing more is left out, and it is not called stable") {
  const HardeningResult whole = harden(Handshakes({kOpen}));
  for (std::uint64_t most = 10; most < whole.runs; most += 97) {
    const HardeningResult result = harden(Handshakes({kOpen}), {}, most);
    CHECK(result.end == End::kIncomplete);
    const auto kept = lines(result.kept);
    CHECK(std::ranges::any_of(kept, [](std::uint32_t line) { return line >= 10 && line < 14; }));
  }
}

TEST_CASE("where the run that finds the places is lost it is not said that there are none") {
  Handshakes program({kOpen});
  const RunOnce lossy = [&program](const Settings& settings) {
    Outcome outcome = program(settings);
    outcome.lost = settings.wants_places ? "it was interrupted" : "";
    return outcome;
  };
  Oracle oracle({});
  Trials trials(one_by_one(lossy), oracle, [] { return false; });
  CHECK(harden(HardeningOptions(), trials, [](const std::string&) {}).end == End::kIncomplete);
}

TEST_CASE("what fences cost is counted with none, its own, all, and those that are kept") {
  Handshakes program({kOpen, kFenced});
  Oracle oracle({});
  const RunOnce counted = [&program](const Settings& settings) {
    Outcome outcome = program(settings);
    if (settings.wants_counts) {
      CHECK_FALSE(settings.weakness.is_on());
      const std::uint64_t removed = static_cast<std::uint64_t>(
          std::ranges::count_if(settings.edits, [](const ptx::OrderEdit& edit) {
            return std::holds_alternative<ptx::RemoveFence>(edit.change);
          }));
      outcome.counts = {.warp_instructions = 100 + settings.seed,
                        .fences = settings.fences.size() + 1 - removed};
    }
    return outcome;
  };
  Trials trials(one_by_one(counted), oracle, [] { return false; });
  const HardeningResult result =
      harden({.stable = 50, .measures_cost = true}, trials, [](const std::string&) {});
  REQUIRE(result.costs.size() == 4);
  CHECK(result.costs[0].fences == "none");
  CHECK(result.costs[0].counts.fences == 0);
  CHECK(result.costs[1].counts.fences == 1);
  CHECK(result.costs[2].counts.fences == result.places + result.own);
  CHECK(result.costs[3].counts.fences == result.kept.size());
  CHECK(result.costs[0].counts.warp_instructions == 103);  // the middle one
}

TEST_CASE("where runs do not repeat they are made where the program fails most without fences") {
  std::vector<Settings> made;
  Handshakes program({kOpen, kFenced});
  const RunOnce seen = [&](const Settings& settings) {
    made.push_back(settings);
    return program(settings);
  };
  Oracle oracle({});
  Trials trials(one_by_one(seen), oracle, [] { return false; }, 8);
  const HardeningResult result =
      harden({.is_repeatable = false}, trials, [](const std::string&) {});
  CHECK(result.end == End::kReduced);
  CHECK(lines(result.kept).size() == 2);
  CHECK(result.kept.front().added.front().fence.scope == wire::Scope::kGpu);
  // Delays with each probability, shuffled and not, and shuffled blocks alone, which show nothing.
  REQUIRE(result.environments.size() == 9);
  CHECK(result.environments.front().rate.failures == result.environments.front().rate.runs);
  CHECK(result.environments.back().rate.failures == 0);
  REQUIRE_FALSE(result.chosen.empty());
  CHECK(result.chosen.size() <= 8);
  CHECK(std::ranges::find(result.chosen, "shuffled blocks") == result.chosen.end());
  std::vector<std::uint64_t> seeds;
  for (const Settings& settings : made) {
    if (settings.weakness.is_on()) {
      CHECK(settings.weakness.stale_reads == 0);
      seeds.push_back(settings.seed);
    }
  }
  std::ranges::sort(seeds);
  CHECK(std::ranges::adjacent_find(seeds) == seeds.end());
}

TEST_CASE("stress is among the environments where it is asked for") {
  const HardeningResult result =
      harden(Handshakes({kOpen}), {.stable = 40, .is_repeatable = false, .stresses = true});
  CHECK(result.end == End::kReduced);
  CHECK(result.environments.size() == 17);
}

TEST_CASE("where no environment shows a failure no fence is kept, and that is said") {
  const HardeningResult result =
      harden(Handshakes({kFenced}), {.stable = 40, .keeps_fences = true, .is_repeatable = false});
  CHECK(result.end == End::kReduced);
  CHECK(result.kept.empty());
  CHECK(result.chosen.empty());
  const report::HardeningReport report = report_of(result);
  REQUIRE_FALSE(report.notes.empty());
  CHECK(report.notes.front().find("none is shown to be needed") != std::string::npos);
}

TEST_CASE("what has fewer fences than what has failed is not tried") {
  Handshakes program({kOpen, kFenced});
  std::vector<std::vector<Fence>> failed;
  const RunOnce seen = [&](const Settings& settings) {
    Outcome outcome = program(settings);
    if (settings.weakness.is_on() && settings.edits.size() == 1) {
      const bool is_known = std::ranges::any_of(failed, [&](const std::vector<Fence>& more) {
        return settings.fences != more &&
               std::ranges::all_of(settings.fences, [&more](const Fence& each) {
                 return std::ranges::find(more, each) != more.end();
               });
      });
      CHECK_FALSE(is_known);
      if (outcome.output == "wrong") {
        failed.push_back(settings.fences);
      }
    }
    return outcome;
  };
  Oracle oracle({});
  // Runs made one by one: none behind the first that fails.
  Trials trials(one_by_one(seen), oracle, [] { return false; }, 1);
  const HardeningResult result =
      harden({.iterations = 1, .stable = 300, .probabilities = {0.05}, .stores_only = true}, trials,
             [](const std::string&) {});
  CHECK(result.end == End::kReduced);
  CHECK(result.iterations > 1);
  CHECK_FALSE(failed.empty());
}

TEST_CASE("an answer of runs most of which are lost leaves no fence out") {
  Handshakes program({kOpen});
  const RunOnce lossy = [&program](const Settings& settings) {
    Outcome outcome = program(settings);
    outcome.lost = settings.weakness.is_on() ? "there is no memory for it" : "";
    return outcome;
  };
  Oracle oracle({});
  Trials trials(one_by_one(lossy), oracle, [] { return false; });
  const HardeningResult result = harden(HardeningOptions(), trials, [](const std::string&) {});
  CHECK(result.end == End::kIncomplete);
  CHECK(result.kept.size() == result.places);
}

TEST_CASE("on a GPU the middle time of the kernels is told, and energy where it is known") {
  Handshakes program({kOpen});
  Oracle oracle({});
  std::uint64_t run = 0;
  const RunOnce timed = [&](const Settings& settings) {
    Outcome outcome = program(settings);
    if (settings.wants_counts) {
      outcome.time = {.launches = 1,
                      .nanoseconds = 1000 + 100 * settings.fences.size() + ++run / 4,
                      .millijoules = std::nullopt,
                      .no_energy = "12 ms are too short"};
    }
    return outcome;
  };
  Trials trials(one_by_one(timed), oracle, [] { return false; });
  const HardeningResult result =
      harden({.stable = 50, .measures_cost = true, .is_repeatable = false}, trials,
             [](const std::string&) {});
  REQUIRE(result.costs.size() == 4);
  CHECK(result.costs[0].time.nanoseconds == 1005);
  CHECK(result.costs[2].time.nanoseconds == 1000 + 100 * result.places + 5);
  CHECK(result.costs[3].time.no_energy == "12 ms are too short");
}

}  // namespace barracuda::weak_memory
