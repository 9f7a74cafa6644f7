#include "cli/weak_plan.h"

#include <catch2/catch.hpp>

namespace barracuda::cli {
namespace {

using weak_memory::Settings;

using Named = std::vector<std::pair<std::string, std::string>>;

Settings weak_settings() {
  Settings settings{.seed = 7, .weakness = {}, .fences = {}, .edits = {}};
  settings.weakness.stores = 0.75;
  settings.weakness.shared = false;
  settings.weakness.kernel = "_Z3dotPi";
  settings.weakness.places = {{.file = "a.cu", .line = 3}, {.file = "b.cu", .line = 4}};
  return settings;
}

}  // namespace

TEST_CASE("a weakness is told by options, and only what is not the default") {
  CHECK(weakness_options({}).empty());
  CHECK(weakness_options(weak_settings()) == Named{{"delay-stores", "0.75"},
                                                   {"delay-spaces", "global"},
                                                   {"delay-kernel", "kne=_Z3dotPi"},
                                                   {"delay-places", "a.cu:3,b.cu:4"}});
  Settings stale;
  stale.weakness.stale_reads = 0.5;
  stale.weakness.late_loads = 0.25;
  CHECK(weakness_options(stale) == Named{{"stale-reads", "0.5"}, {"late-loads", "0.25"}});
}

TEST_CASE(
    "stress and shuffled blocks are told by options, and by who rewrites the program for them") {
  Settings settings;
  settings.weakness.stress = "cache";
  CHECK(weakness_options(settings) == Named{{"delay-levels", "rewrite"}, {"stress", "cache"}});
  settings.weakness.stress = "";
  settings.weakness.shuffled = true;
  CHECK(weakness_options(settings) == Named{{"delay-levels", "rewrite"}, {"shuffle", "blocks"}});
}

TEST_CASE("decisions take the place of the draws") {
  Settings settings = weak_settings();
  const emulator::Decision decision{.launch = 1, .kernel = "_Z3dotPi", .number = 14};
  settings.weakness.decisions = {decision};
  CHECK(weakness_options(settings).empty());
  const session::Plan plan =
      plan_of({"./dot", "1024"}, settings, {.failure = "output", .output_sha = "9f86d081"});
  CHECK(plan.program == "./dot 1024");
  CHECK(plan.seed == 7);
  CHECK(plan.weakness.empty());
  CHECK(plan.decisions == std::vector{decision});
  CHECK(plan.expectation ==
        session::Plan::Expectation{.failure = "output", .output_sha = "9f86d081"});
  const auto again = session::parse_plan(to_string(plan), "plan");
  REQUIRE(again);
  CHECK(*again == plan);
}

TEST_CASE("a plan that draws has the options, and its fences") {
  Settings settings = weak_settings();
  settings.fences.push_back({.place = {.at = {.function = "_Z3dotPi", .ordinal = 14}},
                             .fence = {.order = wire::MemoryOrder::kAcqRel}});
  const session::Plan plan = plan_of({"./dot"}, settings, {});
  CHECK(plan.weakness.at("delay-stores") == "0.75");
  CHECK(plan.fences.size() == 1);
  CHECK(!plan.expectation);
  const auto again = session::parse_plan(to_string(plan), "plan");
  REQUIRE(again);
  CHECK(*again == plan);
}

}  // namespace barracuda::cli
