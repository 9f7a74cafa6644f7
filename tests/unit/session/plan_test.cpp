#include "session/plan.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "session/ptx_changes.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::session {
namespace {

using Catch::Contains;

// Cases run beside each other, each in a process of its own.
const std::string& scratch_file() {
  static const ScratchFolder folder;
  static const std::string file = folder / "file";
  return file;
}

// As to_string() writes it.
constexpr std::string_view kText =
    "barracuda-plan 1\n"
    "program ./dot 1024 'a b'\n"
    "seed 7\n"
    "weakness delay-kernel=kns=a%20b\n"
    "weakness delay-stores=0.5\n"
    "decision launch=1 kernel=_Z3dotPi block=3,0,0 thread=0,0,0 store=14\n"
    "decision launch=10 kernel=_Z3dotPi block=0,0,0 thread=0,0,0 store=2\n"
    "fence after=_Z3dotPi#9 kind=sc scope=gpu\n"
    "fence before=_Z3dotPi#15 kind=acq_rel scope=cta\n"
    "fence remove=_Z3dotPi#20\n"
    "expect failure=output output-sha=9f86d081\n";

std::string message_of(std::string_view line) {
  const auto plan = parse_plan("barracuda-plan 1\n# a comment\n" + std::string(line), "p");
  REQUIRE_FALSE(plan);
  CHECK(plan.error().line == 3);
  CHECK(plan.error().message.size() < 300);
  return plan.error().to_string();
}

}  // namespace

TEST_CASE("a plan is read, and written as it was") {
  const auto plan = parse_plan(kText, "p");
  REQUIRE(plan);
  CHECK(plan->program == "./dot 1024 'a b'");
  CHECK(plan->seed == 7);
  CHECK(plan->weakness.at("delay-kernel") == "kns=a b");
  REQUIRE(plan->decisions.size() == 2);
  CHECK(plan->decisions[1].launch == 10);
  REQUIRE(plan->fences.size() == 3);
  CHECK(plan->fences[0].line == 8);
  CHECK(plan->fences[1].edit ==
        ptx::OrderEdit{.at = {.function = "_Z3dotPi", .ordinal = 15},
                       .change = ptx::InsertFence{.fence = {.order = wire::MemoryOrder::kAcqRel,
                                                            .scope = wire::Scope::kCta},
                                                  .is_before = true}});
  CHECK(plan->expectation == Plan::Expectation{.failure = "output", .output_sha = "9f86d081"});
  CHECK(to_string(*plan) == kText);
}

TEST_CASE("the order of the lines, comments and blanks say nothing") {
  const auto plan = parse_plan(
      "barracuda-plan 1\r\n\n  fence remove=_Z3dotPi#20\n"
      "decision launch=10 kernel=_Z3dotPi block=0,0,0 thread=0,0,0 store=2\n"
      "# why\nexpect output-sha=9f86d081   failure=output\n"
      "weakness delay-stores=0.5 delay-kernel=kns=a%20b\n"
      "fence scope=cta kind=acq_rel before=_Z3dotPi#15\n"
      "decision launch=1 kernel=_Z3dotPi block=3,0,0 thread=0,0,0 store=14\nseed 7\n"
      "fence after=_Z3dotPi#9 kind=sc scope=gpu\nprogram ./dot 1024 'a b'",
      "p");
  REQUIRE(plan);
  CHECK(to_string(*plan) == kText);
  const auto least = parse_plan("barracuda-plan 1", "p");
  REQUIRE(least);
  CHECK(*least == Plan{});
  CHECK(to_string(*least) == "barracuda-plan 1\n");
}

TEST_CASE("a file that is no plan, or one of another version, is an error of its first line") {
  CHECK(parse_plan("", "p").error().to_string() ==
        "p:1: a plan begins with the line 'barracuda-plan 1'");
  CHECK(parse_plan("seed 7\n", "p").error().line == 1);
  CHECK(parse_plan("barracuda-plan 2\nfuture x\n", "p").error().to_string() ==
        "p:1: this is a plan of version '2'; this barracuda reads version 1");
}

TEST_CASE("a line of another form is an error that names it") {
  CHECK_THAT(message_of("warp 1"), Contains("p:3: 'warp' begins no line of a plan"));
  CHECK_THAT(message_of("program"), Contains("program has no value"));
  CHECK_THAT(message_of("seed x"), Contains("'x' is no seed"));
  CHECK_THAT(message_of("seed 99999999999999999999"), Contains("is no seed"));
  CHECK_THAT(message_of("weakness json=x"), Contains("'json' is no option"));
  CHECK_THAT(message_of("weakness delay-stores"), Contains("'delay-stores' is not key=value"));
  CHECK_THAT(message_of("weakness delay-stores=%x"), Contains("is not key=value"));
  CHECK_THAT(message_of("weakness delay-stores=1 delay-stores=0"), Contains("said twice"));
  CHECK_THAT(message_of("decision launch=0"), Contains("launch"));
  CHECK_THAT(message_of("fence kind=sc scope=gpu"), Contains("after=, before= or remove="));
  CHECK_THAT(message_of("fence after=f kind=sc scope=gpu"), Contains("FUNCTION#STATEMENT"));
  CHECK_THAT(message_of("fence after=f#1 scope=gpu"), Contains("kind= is missing"));
  CHECK_THAT(message_of("fence after=f#1 kind=sc scope=all"), Contains("'all' is no scope"));
  CHECK_THAT(message_of("fence after=f#1 remove=f#2 kind=sc scope=gpu"),
             Contains("'remove' is not known here"));
  CHECK_THAT(message_of("expect output-sha=1"), Contains("failure= is missing"));
  CHECK_THAT(message_of("expect failure=a why=b"), Contains("'why' is not known here"));
  CHECK_THAT(message_of(std::string(1'000'000, 'x')), Contains("at most 65536 bytes"));
}

TEST_CASE("what is said twice is an error") {
  const std::string twice[] = {"program a", "seed 1", "expect failure=a",
                               "weakness coherence=weak"};
  for (const std::string& line : twice) {
    const auto plan = parse_plan("barracuda-plan 1\n" + line + "\n" + line + "\n", "p");
    REQUIRE_FALSE(plan);
    CHECK(plan.error().line == 3);
    CHECK_THAT(plan.error().message, Contains("is said twice"));
  }
}

TEST_CASE("a run takes the options of its plan, but for those that the user gave") {
  REQUIRE(write_file(scratch_file(), "barracuda-plan 1\nseed 7\nweakness schedule=random\n"));
  Options options;
  options.weakness = scratch_file();
  options.json = "report";
  Options other = options;
  REQUIRE(take_plan(options));
  CHECK(options.seed == 7);
  CHECK(options.schedule == "random");
  CHECK(options.json == "report");
  other.schedule = "reversed";
  REQUIRE(take_plan(other));
  CHECK(other.schedule == "reversed");
  CHECK_FALSE(other.seed);
  other = Options{};
  other.weakness = scratch_file();
  other.seed = 3;
  REQUIRE(take_plan(other));
  CHECK(other.seed == 3);

  REQUIRE(write_file(scratch_file(), "barracuda-plan 1\nweakness schedule=later\n"));
  CHECK_THAT(take_plan(other).error().to_string(),
             Contains("option weakness: " + scratch_file()) && Contains("'later' is not one of"));
  other.weakness = kBugaroo;
  CHECK(take_plan(other));
  other.weakness = "/no/such/plan";
  CHECK_THAT(take_plan(other).error().to_string(), Contains("option weakness: /no/such/plan"));
}

TEST_CASE("the fences of a plan are changes of the program, and say their line") {
  REQUIRE(write_file(scratch_file(), "barracuda-plan 1\nfence after=f#1 kind=sc scope=gpu\n"));
  Options options;
  options.weakness = scratch_file();
  const auto changes = PtxChanges::read(options);
  REQUIRE(changes);
  const auto unfit = changes->unfit({});
  REQUIRE(unfit.size() == 1);
  CHECK_THAT(unfit[0], Contains("option weakness: " + scratch_file() + ":2: f#1 does not fit"));
}

}  // namespace barracuda::session
