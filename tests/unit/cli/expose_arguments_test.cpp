#include <catch2/catch.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

ExposeCommand command_of(const std::vector<std::string>& words,
                         const std::string& environment = "") {
  const Command parsed = parse_expose(words, environment);
  REQUIRE(std::holds_alternative<ExposeCommand>(parsed));
  return std::get<ExposeCommand>(parsed);
}

std::string error_of(const std::vector<std::string>& words, const std::string& environment = "") {
  const Command parsed = parse_expose(words, environment);
  REQUIRE(std::holds_alternative<Message>(parsed));
  CHECK(std::get<Message>(parsed).is_error);
  return std::get<Message>(parsed).text;
}

}  // namespace

TEST_CASE("expose: what stands behind -- is the program's, and so is what another word begins") {
  CHECK(command_of({"--", "./app", "--runs", "3"}).program ==
        std::vector<std::string>{"./app", "--runs", "3"});
  const ExposeCommand command = command_of({"--runs", "3", "./app", "--all", "-x"});
  CHECK(command.program == std::vector<std::string>{"./app", "--all", "-x"});
  CHECK(command.runs == 3);
  CHECK(!command.all);
  CHECK(command_of({"--runs=4", "--", "--odd"}).program == std::vector<std::string>{"--odd"});
}

TEST_CASE("expose: its flags, and the options of run") {
  const ExposeCommand command = command_of({"--time",
                                            "2h",
                                            "--p",
                                            "0.5,1",
                                            "--check",
                                            "cmp %o right",
                                            "--compare-output",
                                            "none",
                                            "--expect-status",
                                            "3",
                                            "--stores-only",
                                            "--random",
                                            "--all",
                                            "--no-root-cause",
                                            "--per-race",
                                            "7",
                                            "--plan",
                                            "a.plan",
                                            "--flush-lengths",
                                            "--seed",
                                            "9",
                                            "--json=out",
                                            "--",
                                            "./app"},
                                           "time-limit=5:seed=3");
  CHECK(command.time == 7200);
  CHECK(command.probabilities == std::vector<double>{0.5, 1});
  CHECK(command.check == "cmp %o right");
  CHECK(command.compare_output == "none");
  CHECK(command.expect_status == 3);
  CHECK((command.stores_only && command.random && command.all && command.no_root_cause));
  CHECK(command.per_race == 7);
  CHECK(command.plan == "a.plan");
  CHECK(command.flush_lengths);
  CHECK(command.options.seed == 9);
  CHECK(command.options.json == "out");
  CHECK(command.options.time_limit == 5);
}

TEST_CASE("expose: what cannot be is one sentence") {
  CHECK(error_of({}).starts_with("barracuda: no program to run"));
  CHECK(error_of({"--bad", "--", "./app"}).starts_with("barracuda: unknown option '--bad'"));
  CHECK(error_of({"word", "--", "./app"}).starts_with("barracuda: unknown option 'word'"));
  for (const char* const time : {"3x", "", "0", "-1m", "1.5h"}) {
    CHECK(error_of({std::string("--time=") + time, "--", "./app"}).find("time") !=
          std::string::npos);
  }
  for (const char* const p : {"2", "0", "-0.5", "0.5,", "a", "nan", "0.5;1"}) {
    CHECK(error_of({std::string("--p=") + p, "--", "./app"}).find("probabilities") !=
          std::string::npos);
  }
  CHECK(error_of({"--runs", "0", "--", "./app"}).find("--runs") != std::string::npos);
  CHECK(error_of({"--expect-status", "256", "--", "./app"}).find("--expect-status") !=
        std::string::npos);
  CHECK(error_of({"--seed", "x", "--", "./app"}).find("seed") != std::string::npos);
  CHECK(error_of({"--", "./app"}, "no-such=1").find("BARRACUDA_OPTIONS") != std::string::npos);
}

TEST_CASE("expose: it is a command, with a help") {
  const Command help = parse_arguments({"help", "expose"}, "");
  REQUIRE(std::holds_alternative<Message>(help));
  CHECK(std::get<Message>(help).text.find("--per-race") != std::string::npos);
  const Command all = parse_arguments({"--help"}, "");
  CHECK(std::get<Message>(all).text.find("  expose ") != std::string::npos);
}

}  // namespace barracuda::cli
