#include <catch2/catch.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {

TEST_CASE("harden: its flags, those it shares with expose, and the options of run") {
  const Command parsed = parse_harden({"--iterations",
                                       "8",
                                       "--stable=100",
                                       "--keep-fences",
                                       "--fences",
                                       "a.fences",
                                       "--stores-only",
                                       "--time",
                                       "90",
                                       "--check",
                                       "true",
                                       "--seed",
                                       "9",
                                       "--device",
                                       "gpu",
                                       "--stress",
                                       "--cost",
                                       "--jobs",
                                       "3",
                                       "--",
                                       "./app",
                                       "--stable"},
                                      "seed=3");
  REQUIRE(std::holds_alternative<HardenCommand>(parsed));
  const auto& command = std::get<HardenCommand>(parsed);
  CHECK(command.iterations == 8);
  CHECK(command.stable == 100);
  CHECK(command.keep_fences);
  CHECK(command.fences == "a.fences");
  CHECK(command.stores_only);
  CHECK(command.time == 90);
  CHECK(command.check == "true");
  CHECK(command.options.seed == 9U);
  CHECK(command.options.device == "gpu");
  CHECK(command.stress);
  CHECK(command.cost);
  CHECK(command.jobs == 3);
  CHECK(command.program == std::vector<std::string>{"./app", "--stable"});
}

TEST_CASE("harden: what is wrong is one sentence that names it") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--stable", "0", "--", "./app"},
        {"--iterations=x", "--", "./app"},
        {"--runs", "3", "--", "./app"},
        {"--jobs", "0", "--", "./app"},
        {"--time", "soon", "--", "./app"},
        {}}) {
    const Command parsed = parse_harden(words, "");
    REQUIRE(std::holds_alternative<Message>(parsed));
    const auto& message = std::get<Message>(parsed);
    CHECK(message.is_error);
    CHECK(message.text.find("(see barracuda harden --help)\n") != std::string::npos);
  }
  const Command help = parse_harden({"--help"}, "");
  REQUIRE(std::holds_alternative<Message>(help));
  CHECK(!std::get<Message>(help).is_error);
}

}  // namespace barracuda::cli
