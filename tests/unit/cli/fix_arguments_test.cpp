#include <catch2/catch.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

FixCommand fix_of(const std::vector<std::string>& words, const std::string& environment = "") {
  const Command parsed = parse_fix(words, environment);
  const auto* const fix = std::get_if<FixCommand>(&parsed);
  REQUIRE(fix != nullptr);
  return *fix;
}

std::string error_of(const std::vector<std::string>& words) {
  const Command parsed = parse_fix(words, "");
  const auto* const message = std::get_if<Message>(&parsed);
  REQUIRE(message != nullptr);
  CHECK(message->is_error);
  return message->text;
}

}  // namespace

TEST_CASE("fix: its flags, and the options of run") {
  const FixCommand fix =
      fix_of({"--seeds", "3", "--diff", "a.patch", "--ptx", "out", "--write", "--no-barriers",
              "--time=2m", "--per-race", "0", "--severity", "error", "--", "./app", "-x"},
             "seed=7");
  CHECK(fix.seeds == 3);
  CHECK(fix.diff == "a.patch");
  CHECK(fix.ptx_folder == "out");
  CHECK(fix.write);
  CHECK(fix.no_barriers);
  CHECK(fix.time == 120);
  CHECK(fix.per_race == 0);
  CHECK(fix.options.severity == "error");
  CHECK(fix.options.seed == 7);
  CHECK(fix.program == std::vector<std::string>{"./app", "-x"});
  CHECK(fix_of({"./app", "--seeds"}).program == std::vector<std::string>{"./app", "--seeds"});
}

TEST_CASE("fix: what cannot be is one sentence") {
  CHECK(error_of({}).find("no program to run") != std::string::npos);
  CHECK(error_of({"--time", "soon", "app"}).find("a time is 90s, 10m or 2h") != std::string::npos);
  CHECK(error_of({"--seeds", "0", "app"}).find("--seeds") != std::string::npos);
  CHECK(error_of({"--nonsense", "--", "app"}).find("--nonsense") != std::string::npos);
  CHECK(error_of({"--severity", "some", "app"}).find("severity") != std::string::npos);
}

TEST_CASE("fix: it is a command, with a help") {
  const Command help = parse_arguments({"help", "fix"}, "");
  CHECK(std::get<Message>(help).text.find("--no-barriers") != std::string::npos);
  const Command all = parse_arguments({"--help"}, "");
  CHECK(std::get<Message>(all).text.find("  fix ") != std::string::npos);
}

}  // namespace barracuda::cli
