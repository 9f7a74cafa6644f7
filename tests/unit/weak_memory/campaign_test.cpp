#include "weak_memory/campaign.h"

#include <catch2/catch.hpp>

#include "tests/unit/weak_memory/handshakes.h"
#include "weak_memory/environments.h"

namespace barracuda::weak_memory {
namespace {

using testing::Handshake;
using testing::Handshakes;

CampaignResult expose(const RunOnce& program, const CampaignOptions& options = {},
                      OracleRules rules = {}) {
  Oracle oracle(std::move(rules));
  Trials trials(one_by_one(program), oracle, [] { return false; });
  return run_campaign(options, trials, [](const std::string&) {});
}

CampaignResult expose(Handshakes& program, const CampaignOptions& options = {},
                      OracleRules rules = {}) {
  return expose(RunOnce(std::ref(program)), options, std::move(rules));
}

// As on a GPU: no run can be repeated.
CampaignOptions stressed(std::uint64_t runs) {
  CampaignOptions options;
  options.is_repeatable = false;
  options.root_cause = false;
  options.stresses = true;
  options.runs = runs;
  return options;
}

report::Finding race_at(std::uint32_t write, std::uint32_t read) {
  report::Finding race;
  race.kind = "inter-block";
  race.accesses.resize(2);
  race.accesses[0].operation = report::AccessOperation::kWrite;
  race.accesses[0].place = {.function = "pass()", .file = "pass.cu", .line = write};
  race.accesses[1].operation = report::AccessOperation::kRead;
  race.accesses[1].place = {.function = "pass()", .file = "pass.cu", .line = read};
  race.fingerprint = std::to_string(write) + "-" + std::to_string(read);
  return race;
}

}  // namespace

TEST_CASE("a missing fence is exposed, confirmed and explained, the same each time") {
  const auto once = [] {
    Handshakes program({Handshake{}});
    return expose(program);
  };
  const CampaignResult result = once();
  CHECK(result.references.made == 5);
  CHECK(result.references.failures == 0);
  REQUIRE(result.failures.size() == 1);
  const ExposedFailure& failure = result.failures.front();
  CHECK(failure.failure == Failure::kOutput);
  CHECK(failure.is_repeatable);
  CHECK(failure.rate.runs == 20);
  CHECK(failure.rate.failures == 20);
  REQUIRE(failure.causes.size() == 1);
  CHECK(failure.causes.front().fences.size() == 1);
  CHECK(!result.is_incomplete);
  CHECK(once().runs == result.runs);
}

TEST_CASE("with its fence the same program passes all runs of both stages") {
  Handshakes program({Handshake{.is_fenced = true}});
  const CampaignResult result = expose(program);
  CHECK(result.failures.empty());
  CHECK(result.weak_runs == 80);
  CHECK(result.runs == 85);
  Handshakes again({Handshake{.is_fenced = true}});
  CampaignOptions stores_only;
  stores_only.stores_only = true;
  CHECK(expose(again, stores_only).weak_runs == 40);
}

TEST_CASE("a program that fails without delays is not tried with them") {
  Handshakes program({Handshake{}});
  program.is_always_wrong = true;
  const CampaignResult result = expose(program);
  CHECK(result.references.failures == 5);
  CHECK(result.references.failure == Failure::kStatus);
  CHECK(result.weak_runs == 0);
  OracleRules rules;
  rules.expected_status = 1;
  CHECK(expose(program, {}, rules).failures.size() == 1);
}

TEST_CASE("outputs that differ are not compared, and other failures still count") {
  Handshakes program({Handshake{}});
  program.has_unstable_output = true;
  const CampaignResult result = expose(program);
  CHECK(result.references.is_output_unstable);
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures.front().failure == Failure::kStatus);
}

TEST_CASE("a schedule that fails without delays too is no failure of weak memory") {
  Handshakes program({Handshake{.is_fenced = true}});
  program.bad_schedule = 9;
  const CampaignResult result = expose(program);
  CHECK(result.failures.empty());
  CHECK(result.failures_of_schedule == 2);  // once in each stage
}

TEST_CASE("races direct the delays, and each has its effect") {
  Handshakes handshakes({Handshake{}});
  const RunOnce program = [&](const Settings& settings) {
    Outcome outcome = handshakes(settings);
    outcome.report.findings = {race_at(99, 98), race_at(10, 13)};
    return outcome;
  };
  const CampaignResult result = expose(program);
  REQUIRE(result.races.size() == 2);
  CHECK(result.races[0].race.fingerprint == "10-13");
  CHECK(result.races[0].effect == RaceEffect::Effect::kHarmful);
  CHECK(result.races[0].failure == Failure::kOutput);
  CHECK(result.races[1].effect == RaceEffect::Effect::kNotShown);
  CHECK(result.races[1].tries == 20);
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures.front().environment == "race 2 of 2");
  CampaignOptions options;
  options.directed = false;
  const CampaignResult random = expose(program, options);
  CHECK(random.races[0].effect == RaceEffect::Effect::kNotTried);
  CHECK(random.failures.front().environment == "delayed stores");
}

TEST_CASE("of what fails rarely each answer is that of so many runs that a failure would be seen") {
  Handshakes handshakes({Handshake{}});
  const RunOnce program = [&](Settings settings) {
    // A fence too narrow hides it from the seeds of the first twenty.
    const bool is_fenced = !settings.fences.empty();
    if (settings.seed % 40 != (is_fenced ? 39 : 19)) {
      settings.weakness = {};
    }
    Outcome outcome = handshakes(settings);
    outcome.report.findings = {race_at(10, 13)};
    return outcome;
  };
  const CampaignResult result = expose(program);
  REQUIRE(result.failures.size() == 1);
  const ExposedFailure& failure = result.failures.front();
  CHECK(failure.rate.failures == 1);
  REQUIRE(failure.causes.size() == 1);
  CHECK(failure.causes.front().seeds > 80);
  REQUIRE(failure.causes.front().fences.size() == 1);
  CHECK(failure.causes.front().fences.front().fence.scope == wire::Scope::kGpu);
}

TEST_CASE("a store that age alone makes visible is a starvation, once") {
  Handshakes handshakes({Handshake{.is_fenced = true}});
  const RunOnce program = [&](const Settings& settings) {
    Outcome outcome = handshakes(settings);
    outcome.report.findings = {race_at(10, 13)};
    if (settings.weakness.is_on()) {
      outcome.log.starvations.push_back({.until = emulator::WeakEnd::kAge, .turns = 65536});
    }
    return outcome;
  };
  const CampaignResult result = expose(program);
  CHECK(result.starvations.size() == 1);
  CHECK(result.races.front().effect == RaceEffect::Effect::kStarving);
}

TEST_CASE("with all, what is known is not told again") {
  Handshakes program({Handshake{}});
  CampaignOptions options;
  options.all = true;
  options.runs = 8;
  const CampaignResult result = expose(program, options);
  CHECK(result.failures.size() == 1);
}

TEST_CASE("a failure that is not the same each time is told by its rate") {
  // Fails in two of three runs with weakness, whatever the seed.
  std::uint64_t count = 0;
  const RunOnce program = [&](const Settings& settings) {
    Outcome outcome;
    outcome.report.coverage.launches = 1;
    outcome.status = settings.weakness.is_on() && ++count % 3 != 0 ? 1 : 0;
    return outcome;
  };
  CampaignOptions options;
  options.root_cause = false;
  const CampaignResult result = expose(program, options);
  REQUIRE(result.failures.size() == 1);
  CHECK(!result.failures.front().is_repeatable);
  CHECK(result.failures.front().rate.failures == 13);
}

TEST_CASE("environments come in turn, and the one in which it fails is confirmed and named") {
  std::uint64_t wrong = 0;
  const RunOnce program = [&wrong](const Settings& settings) {
    Outcome outcome;
    outcome.report.coverage.launches = 1;
    const bool fails = settings.weakness.stress == "random" && settings.weakness.shuffled;
    outcome.output = fails && ++wrong % 2 == 0 ? "wrong" : "right";
    return outcome;
  };
  CampaignOptions options = stressed(10);
  const CampaignResult result = expose(program, options);
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures[0].environment == "random stress, shuffled blocks");
  CHECK(result.failures[0].rate.runs == 20);
  CHECK(result.failures[0].rate.failures == 10);
  REQUIRE(result.environments.size() == environments(options.probabilities).size());
  for (const EnvironmentRate& each : result.environments) {
    INFO(each.name);
    const bool fails = each.name == "random stress, shuffled blocks";
    CHECK(each.rate.failures == (fails ? 1 : 0));
    CHECK(each.rate.runs <= 3);
  }
  options.all = true;
  const CampaignResult all = expose(program, options);
  CHECK(all.failures.size() == 1);
  for (const EnvironmentRate& each : all.environments) {
    CHECK(each.rate.runs == 10);
  }
  CHECK(all.weak_runs == 10 * all.environments.size());
}

TEST_CASE("what fails rarely is confirmed by more runs, what fails as often without is not") {
  for (const bool is_calm : {true, false}) {
    std::uint64_t count = 0;
    const RunOnce program = [&](const Settings& settings) {
      Outcome outcome;
      outcome.report.coverage.launches = 1;
      const bool may_fail = settings.weakness.is_on() || (!is_calm && settings.seed > 5);
      outcome.output = may_fail && ++count % 12 == 0 ? "wrong" : "right";
      return outcome;
    };
    const CampaignResult result = expose(program, stressed(4));
    REQUIRE(result.failures.size() == (is_calm ? 1 : 0));
    if (is_calm) {
      CHECK(result.failures[0].rate.runs > 20);
    }
  }
}

TEST_CASE("runs that are lost are counted, and an end of the time is told") {
  const RunOnce lost = [](const Settings&) {
    Outcome outcome;
    outcome.lost = "no memory";
    return outcome;
  };
  const CampaignResult none = expose(lost);
  CHECK(none.references.made == 0);
  CHECK(none.lost == 5);
  CHECK(none.reason_of_loss == "no memory");
  Handshakes program({Handshake{.is_fenced = true}});
  Oracle oracle({});
  Trials short_of_time(one_by_one(std::ref(program)), oracle, [&] { return program.runs > 20; });
  const CampaignResult some = run_campaign({}, short_of_time, [](const std::string&) {});
  CHECK(some.is_incomplete);
  CHECK(some.weak_runs == 16);
}

}  // namespace barracuda::weak_memory
