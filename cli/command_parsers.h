// The command lines of the commands that have a parser of their own, which arguments.cpp calls with
// the words behind the command's name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace barracuda::cli {

inline constexpr const char* kCampaignDescription =
    "divide explore, expose or harden into tasks, and run them on this machine or on many";
inline constexpr const char* kDoctorDescription =
    "what of this machine, and of a program, is in the way of a check, and its cure";
inline constexpr const char* kExposeDescription =
    "run a program with delayed stores until it fails, and say where a fence is missing";
inline constexpr const char* kFixDescription =
    "find the fences, scopes, orders and barriers that make a program's races go away";
inline constexpr const char* kHardenDescription =
    "put a fence behind every access, and keep those that runs with delayed stores need";
inline constexpr const char* kLitmusDescription =
    "run litmus tests on a device and count what comes out of them";
inline constexpr const char* kTuneDescription =
    "find the stress that shows most weak behaviour on this GPU";

Command parse_campaign(const std::vector<std::string>& words,
                       const std::string& environment_options);
Command parse_doctor(const std::vector<std::string>& words, const std::string& environment_options);
Command parse_expose(const std::vector<std::string>& words, const std::string& environment_options);
Command parse_fix(const std::vector<std::string>& words, const std::string& environment_options);
Command parse_harden(const std::vector<std::string>& words, const std::string& environment_options);
Command parse_litmus(const std::vector<std::string>& words, const std::string& environment_options);
Command parse_tune(const std::vector<std::string>& words, const std::string& environment_options);

// Of `explore`, whose words CLI11 has; and those of its flags that are for kernels. `into` must
// live as long as the application.
void declare_explore(CLI::App& explore, ExploreCommand& into);
void declare_explore_kernel(CLI::App& explore, ExploredKernel& into);

// "barracuda: TEXT (see barracuda COMMAND --help)"
Message usage_error(const std::string& text, const std::string& command);

// What there is to say instead of doing what the flags say: the help, or what is wrong with them.
// `parents`: what stands before the application's name.
std::optional<Message> parse_flags(CLI::App& app, std::vector<std::string> flags,
                                   const std::string& parents = "barracuda");

// What is wrong with them, as all commands say it. An option that is unknown, and the one that it
// may have been meant to be.
std::string sentence_of(const CLI::ParseError& problem, const CLI::App& app);
std::string unknown_option(const std::string& word, const CLI::App& app);

}  // namespace barracuda::cli
