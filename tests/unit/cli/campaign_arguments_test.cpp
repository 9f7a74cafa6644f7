#include <catch2/catch.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

std::string error_of(const std::vector<std::string>& words) {
  const Command parsed = parse_campaign(words, "");
  REQUIRE(std::holds_alternative<Message>(parsed));
  CHECK(std::get<Message>(parsed).is_error);
  return std::get<Message>(parsed).text;
}

}  // namespace

TEST_CASE("campaign: write takes a folder and the command behind --") {
  const Command parsed = parse_campaign(
      {"write", "all", "--tasks", "7", "--", "explore", "--tasks", "a.litmus"}, "seed=3");
  REQUIRE(std::holds_alternative<CampaignWriteCommand>(parsed));
  const auto& command = std::get<CampaignWriteCommand>(parsed);
  CHECK(command.folder == "all");
  CHECK(command.tasks == 7);
  CHECK(command.words == std::vector<std::string>{"explore", "--tasks", "a.litmus"});
  CHECK(command.environment_options == "seed=3");
  CHECK(
      std::get<CampaignWriteCommand>(parse_campaign({"write", "all", "--lines", "f"}, "")).lines ==
      "f");
}

TEST_CASE("campaign: the words of run, status and result are its program's") {
  const std::vector<std::string> words = {"run", "all", "--runner", "slurm", "--help"};
  const Command parsed =
      parse_arguments({"campaign", "run", "all", "--runner", "slurm", "--help"}, "");
  REQUIRE(std::holds_alternative<CampaignProgramCommand>(parsed));
  CHECK(std::get<CampaignProgramCommand>(parsed).words == words);
}

TEST_CASE("campaign: what is wrong is one sentence that names the help") {
  CHECK(error_of({}).starts_with("barracuda: campaign needs write, run, status or result"));
  CHECK(error_of({"stop"}).starts_with("barracuda: campaign: there is no 'stop'"));
  CHECK(error_of({"write", "all"}).starts_with("barracuda: no command to divide"));
  CHECK(error_of({"write", "all", "--lines", "f", "--", "explore", "a"}).find("not both") !=
        std::string::npos);
  CHECK(error_of({"write", "all", "--lines", "f", "--tasks", "2"}).find("--tasks") !=
        std::string::npos);
  CHECK(error_of({"write", "all", "--tasks", "0", "--", "explore", "a"}).find("--tasks") !=
        std::string::npos);
  CHECK(error_of({"write", "--", "explore", "a"}).find("FOLDER") != std::string::npos);
  CHECK(error_of({"write"}).find("(see barracuda campaign write --help)") != std::string::npos);
}

TEST_CASE("campaign: help") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, std::vector<std::string>{"write", "--help"}}) {
    const Command parsed = parse_campaign(words, "");
    REQUIRE(std::holds_alternative<Message>(parsed));
    CHECK(!std::get<Message>(parsed).is_error);
    CHECK(std::get<Message>(parsed).text.find("Usage: barracuda campaign") != std::string::npos);
  }
}

}  // namespace barracuda::cli
