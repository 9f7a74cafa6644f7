#include "cli/generated.h"

#include <algorithm>
#include <regex>

#include <catch2/catch.hpp>

#include "base/options.h"
#include "cli/arguments.h"
#include "cli/campaign_arguments.h"
#include "tests/unit/cli/shell.h"

namespace barracuda::cli {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A manual page has hyphens of its own.
std::string in_troff(std::string text) {
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) {
    text.replace(at, 1, "\\-");
  }
  return text;
}

TEST_CASE("every option is in the manual page and in what completes words") {
  const std::string man = *generated("man"), bash = *generated("bash"), zsh = *generated("zsh");
  for (const OptionDescription& option : option_descriptions()) {
    const std::string flag = "--" + std::string(option.name);
    INFO(flag);
    CHECK(contains(man, ".TP\n\\fB" + in_troff(flag) + "\\fR"));
    CHECK((contains(bash, " " + flag + " ") || contains(bash, " " + flag + "\"")));
    CHECK(contains(zsh, "'" + flag + ":"));
    for (const std::string_view choice : choices_in(option.help)) {
      CHECK(contains(bash, std::string(choice)));
    }
  }
}

TEST_CASE("every command is in them, with its own flags") {
  const std::string man = *generated("man"), bash = *generated("bash"), zsh = *generated("zsh");
  CHECK(command_names().size() > 15);
  for (const std::string& name : command_names()) {
    INFO(name);
    CHECK(contains(man, ".TP\n.B " + name + "\n"));
    CHECK(contains(bash, "\n    " + name + (name == "campaign" ? ") names=" : ") words=")));
    CHECK(contains(zsh, "\n    " + name + ")\n"));
    CHECK(contains(zsh, "'" + name + ":"));
  }
  for (const char* const flag : {"--per-race", "--no-barriers", "--sites", "--grid", "--full",
                                 "--litmus", "--unroll", "--keep-fences"}) {
    INFO(flag);
    CHECK(contains(man, in_troff(flag)));
    CHECK(contains(bash, flag));
    CHECK(contains(zsh, std::string("'") + flag + ":"));
  }
}

TEST_CASE("every flag that is completed is one of the command's") {
  const Command help = parse_arguments({"doctor", "--help"}, "");
  const std::string bash = *generated("bash");
  const std::size_t begin = bash.find("\n    doctor) words=\"");
  REQUIRE(begin != std::string::npos);
  const std::string line = bash.substr(begin + 1, bash.find('\n', begin + 1) - begin - 1);
  CHECK(line == "    doctor) words=\"--help --device\" ;;");
  CHECK(contains(std::get<Message>(help).text, "--device"));
}

// Without spaces: argparse breaks lines, and at hyphens, too.
std::string without_spaces(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s"), "");
}

TEST_CASE("the parts of campaign are in them with their flags, as their program's help has them") {
  const std::string man = *generated("man"), bash = *generated("bash"), zsh = *generated("zsh");
  CHECK(contains(bash, "\n    campaign) names=\"write run status result --help\" ;;\n"));
  CHECK(contains(bash, "\n    'campaign write') words=\"--help --tasks --lines\" ;;\n"));
  CHECK(contains(bash, "\n    'campaign write --') names=\"explore expose harden litmus\" ;;\n"));
  CHECK(contains(bash, "    --runner) COMPREPLY=($(compgen -W \"local slurm dask\" -- "));
  for (const CampaignPart& part : campaign_parts()) {
    const std::string name = "campaign " + std::string(part.name);
    INFO(name);
    CHECK(contains(man, ".TP\n.B " + name + "\n"));
    CHECK(contains(zsh, "\n    '" + name + "')\n      flags=(\n"));
    CHECK(contains(zsh, "        '" + std::string(part.name) + ":"));
    if (part.flags.empty()) {
      continue;
    }
    const ShellResult help =
        shell("python3 -B " BARRACUDA_SOURCE_DIR "/campaign --barracuda none " +
              std::string(part.name) + " --help");
    REQUIRE(help.status == 0);
    CHECK(contains(without_spaces(help.output), without_spaces(std::string(part.description))));
    const std::regex flag_of_help("\n  (?:-h, )?(--[a-z]+)");
    std::string expected, found;
    for (std::sregex_iterator at(help.output.begin(), help.output.end(), flag_of_help), end;
         at != end; ++at) {
      expected += (*at)[1].str() + " ";
    }
    for (const CampaignFlag& flag : part.flags) {
      found += std::string(flag.names.substr(flag.names.find("--"))) + " ";
      INFO(flag.names);
      CHECK(contains(without_spaces(help.output), without_spaces(std::string(flag.meaning))));
      CHECK(contains(man, in_troff(std::string(flag.meaning))));
    }
    CHECK(found == expected);
    CHECK(contains(
        bash, "\n    '" + name + "') words=\"" + found.substr(0, found.size() - 1) + "\" ;;\n"));
  }
}

TEST_CASE("no line of the manual page is taken for a request that it is not") {
  const std::string man = *generated("man");
  constexpr const char* kRequests[] = {".TH ", ".SH ", ".SS ", ".TP",  ".B ",
                                       ".PP",  ".nf",  ".fi",  ".\\\""};
  for (std::size_t begin = 0; begin < man.size();) {
    const std::size_t end = man.find('\n', begin);
    const std::string line = man.substr(begin, end - begin);
    begin = end + 1;
    INFO(line);
    CHECK((!line.starts_with('.') || std::ranges::any_of(kRequests, [&](const char* request) {
      return line.starts_with(request);
    })));
    CHECK_FALSE(line.starts_with('\''));
  }
}

TEST_CASE("what cannot be generated is an error, and the flag is in no help") {
  CHECK_FALSE(generated("fish").has_value());
  CHECK(std::get<Message>(parse_arguments({"--generate"}, "")).is_error);
  CHECK(std::get<Message>(parse_arguments({"--generate", "fish"}, "")).is_error);
  CHECK_FALSE(std::get<Message>(parse_arguments({"--generate", "man"}, "")).is_error);
  CHECK_FALSE(contains(std::get<Message>(parse_arguments({"--help"}, "")).text, "--generate"));
}

}  // namespace
}  // namespace barracuda::cli
