#include "cli/campaign_tasks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "cli/arguments.h"

namespace barracuda::cli {
namespace {

std::vector<CommandWords> divided(const CommandWords& words, std::uint64_t tasks = 0,
                                  const std::string& environment = "") {
  const auto all = divide(words, tasks, environment);
  INFO((all ? "" : all.error().message));
  REQUIRE(all.has_value());
  return *all;
}

std::string error_of(const CommandWords& words, const std::string& environment = "") {
  const auto all = divide(words, 0, environment);
  REQUIRE(!all.has_value());
  return all.error().message;
}

ExposeCommand expose_of(const CommandWords& words) {
  const Command command = parse_arguments(words, "");
  REQUIRE(std::holds_alternative<ExposeCommand>(command));
  return std::get<ExposeCommand>(command);
}

CommandWords explore_of(std::size_t files) {
  CommandWords words = {"explore", "--memory-model", "weak"};
  for (std::size_t i = 0; i < files; ++i) {
    words.push_back("t" + std::to_string(i) + ".litmus");
  }
  return words;
}

}  // namespace

TEST_CASE(
    "campaign: explore is divided by its tests, in their order, with its flags in each task") {
  CHECK(divided({"explore", "a", "--memory-model", "weak", "b", "--exact", "c"}) ==
        std::vector<CommandWords>{{"explore", "--memory-model", "weak", "--exact", "a"},
                                  {"explore", "--memory-model", "weak", "--exact", "b"},
                                  {"explore", "--memory-model", "weak", "--exact", "c"}});
  for (const auto& [files, tasks] :
       {std::pair<std::size_t, std::uint64_t>{10, 3}, {10, 10}, {10, 99}, {1, 1}, {2500, 0}}) {
    const auto all = divided(explore_of(files), tasks);
    CHECK(all.size() == std::min<std::size_t>(files, tasks == 0 ? 1000 : tasks));
    CommandWords together = {"explore", "--memory-model", "weak"};
    for (const CommandWords& task : all) {
      CHECK(task.size() > 3);
      CHECK(task.size() - 3 <= files / all.size() + 1);
      together.insert(together.end(), task.begin() + 3, task.end());
    }
    CHECK(together == explore_of(files));
  }
}

TEST_CASE("campaign: a flag's value that is called as a test is") {
  CHECK(divided({"explore", "--expect", "a", "a"}) ==
        std::vector<CommandWords>{{"explore", "--expect", "a", "a"}});
  CHECK(error_of({"explore", "a", "b", "--expect", "b"})
            .starts_with("put the tests behind the flags"));
}

TEST_CASE("campaign: all tasks of expose make each random run of one expose, and no other") {
  for (const std::uint64_t runs : {1, 4, 7, 40, 401}) {
    for (const std::uint64_t tasks : {0, 1, 3, 10, 1000}) {
      const auto all = divided({"expose", "--seed=9", "--runs", std::to_string(runs),
                                "--per-race=1", "--all", "./app", "--runs"},
                               tasks);
      std::set<std::pair<std::uint64_t, std::size_t>> made;  // seed, which probability
      std::uint64_t directed = 0;
      for (const CommandWords& task : all) {
        const ExposeCommand command = expose_of(task);
        CHECK(command.all);
        CHECK(command.program == std::vector<std::string>{"./app", "--runs"});
        for (std::uint64_t run = 0; run < command.runs; ++run) {
          CHECK(made.emplace(command.options.seed.value_or(0) + run, run % 4).second);
        }
        directed += command.random ? 0 : command.per_race;
      }
      std::set<std::pair<std::uint64_t, std::size_t>> wanted;
      for (std::uint64_t run = 0; run < runs; ++run) {
        wanted.emplace(9 + run, run % 4);
      }
      CHECK(made == wanted);
      CHECK(directed == 1);
    }
  }
}

TEST_CASE("campaign: directed runs are divided as well, and no two tasks make the same") {
  const auto all = divided({"expose", "--runs", "40", "--per-race", "400", "--", "./app"}, 10);
  CHECK(all.size() == 10);
  std::set<std::uint64_t> seeds;
  for (const CommandWords& task : all) {
    const ExposeCommand command = expose_of(task);
    CHECK(command.per_race == 40);
    for (std::uint64_t run = 0; run < command.per_race; ++run) {
      CHECK(seeds.insert(command.options.seed.value_or(0) + run).second);
    }
  }
  CHECK(divided({"expose", "--", "./app"}).size() == 1);
  CHECK(divided({"expose", "--runs", "4000", "./app"}).size() == 100);
}

TEST_CASE("campaign: each task of harden is the whole search, with seeds of its own") {
  const CommandWords words = {"harden", "--stable=700", "--seed", "5",
                              "--cost", "--",           "./app",  "-x"};
  for (const std::uint64_t tasks : {0, 1, 3, 20}) {
    const auto all = divided(words, tasks);
    CHECK(all.size() == std::max<std::uint64_t>(tasks, 1));
    std::set<std::uint64_t> seeds;
    for (const CommandWords& task : all) {
      const Command parsed = parse_arguments(task, "");
      REQUIRE(std::holds_alternative<HardenCommand>(parsed));
      const auto& command = std::get<HardenCommand>(parsed);
      CHECK(command.stable == 700);
      CHECK(command.cost);
      CHECK(command.program == std::vector<std::string>{"./app", "-x"});
      seeds.insert(command.options.seed.value_or(0));
    }
    CHECK(seeds.size() == all.size());
    CHECK(*seeds.begin() == 5);
    // No search uses as many seeds as lie between two of them.
    std::uint64_t before = 0;
    for (const std::uint64_t seed : seeds) {
      CHECK((before == 0 || seed - before >= 1'000'000));
      before = seed;
    }
  }
}

TEST_CASE("campaign: tasks of expose under stress have seeds far from each other") {
  const auto all = divided({"expose", "--device", "gpu", "--stress", "--runs", "80", "./app"}, 2);
  REQUIRE(all.size() == 2);
  CHECK(expose_of(all[0]).stress);
  CHECK(expose_of(all[1]).options.seed.value_or(0) - expose_of(all[0]).options.seed.value_or(0) >=
        1'000'000);
}

TEST_CASE("campaign: tasks of litmus make together the launches that were asked for") {
  const auto all = divided(
      {"litmus", "--launches", "10", "--seed=3", "--stress", "none", "a.litmus", "b.litmus"}, 4);
  REQUIRE(all.size() == 4);
  std::uint64_t launches = 0;
  std::set<std::uint64_t> seeds;
  for (const CommandWords& task : all) {
    const Command parsed = parse_arguments(task, "");
    REQUIRE(std::holds_alternative<LitmusCommand>(parsed));
    const auto& command = std::get<LitmusCommand>(parsed);
    CHECK(command.files == std::vector<std::string>{"a.litmus", "b.litmus"});
    CHECK(command.stress == "none");
    launches += command.launches.value_or(0);
    seeds.insert(command.seed);
  }
  CHECK(launches == 10);
  CHECK(seeds.size() == 4);
  CHECK(divided({"litmus", "--launches", "2", "a.litmus"}, 9).size() == 2);
  CHECK(divided({"litmus", "a.litmus"}).size() == 1);
}

TEST_CASE("campaign: what cannot be divided, or would write one file from several tasks") {
  CHECK(error_of({"run", "--", "./app"}).starts_with("'run' is no command to divide"));
  CHECK(error_of({"campaign", "status", "x"}).starts_with("'campaign' is no command to divide"));
  CHECK(error_of({}).starts_with("'' is no command to divide"));
  CHECK(error_of({"expose"}).starts_with("no program to run"));
  CHECK(error_of({"explore", "--help"}) == "explore has nothing to do");
  CHECK(error_of({"explore", "--colour", "a"}).find("--colour") != std::string::npos);
  for (const CommandWords& words :
       {CommandWords{"explore", "--json", "x", "a"}, CommandWords{"explore", "--dot=x", "a"},
        CommandWords{"expose", "--json=x", "./app"},
        CommandWords{"expose", "--log-file=x", "./app"},
        CommandWords{"expose", "--plan", "x", "./app"}}) {
    CHECK(error_of(words).starts_with("json, log-file, dot and plan cannot be chosen"));
  }
  CHECK(error_of({"expose", "./app"}, "log-file=x").starts_with("json, log-file"));
}

TEST_CASE("campaign: a file of commands, one a line") {
  const auto all = tasks_of_lines(
      "# comment\n\nexplore 'a b.litmus' --memory-model \"weak\"\r\n  barracuda expose -- sh -c "
      "'exit "
      "3'\n",
      "f", "");
  REQUIRE(all.has_value());
  CHECK(*all == std::vector<CommandWords>{{"explore", "a b.litmus", "--memory-model", "weak"},
                                          {"expose", "--", "sh", "-c", "exit 3"}});
  const auto line_of = [](const std::string& text) {
    const auto read = tasks_of_lines(text, "f", "");
    REQUIRE(!read.has_value());
    CHECK(read.error().file == "f");
    return read.error().line;
  };
  CHECK(line_of("explore a\nexplore 'a") == 2);
  CHECK(line_of("explore a | tee b") == 1);
  CHECK(line_of("explore $(ls)") == 1);
  CHECK(line_of("explore a\nrun ./app") == 2);
  CHECK(line_of("expose --json=x ./app") == 1);
  CHECK(line_of("#\n") == 0);
}

}  // namespace barracuda::cli
