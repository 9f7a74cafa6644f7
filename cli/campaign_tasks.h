// What a campaign consists of: commands of `barracuda`, each a task that any machine may run, whose
// results together are what the one command that was divided would have found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace barracuda::cli {

using CommandWords = std::vector<std::string>;  // behind `barracuda`

inline constexpr std::string_view kDivisibleCommands[] = {"explore", "expose", "harden", "litmus"};

// Into `tasks` parts at most; 0: as many as suit the command. Errors: a command that cannot be
// divided, or whose own command line is wrong.
Expected<std::vector<CommandWords>> divide(const CommandWords& words, std::uint64_t tasks,
                                           const std::string& environment_options);

// Each line of a file, whose name is for the errors. Empty lines, and those that begin with #, are
// left out.
Expected<std::vector<CommandWords>> tasks_of_lines(const std::string& text, const std::string& file,
                                                   const std::string& environment_options);

}  // namespace barracuda::cli
