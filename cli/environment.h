// The environment that a program gets under `barracuda run`: the program's own, with the tool
// added.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/options.h"

namespace barracuda::cli {

struct ToolEnvironment {
  std::vector<std::string> preload;  // libraries to load first, ours last
  std::string library_folder;        // goes first on the library path; empty: none
  std::string run_directory;
  Options options;
  std::vector<std::string> caches;  // NAME=value, set as well (program_caches.h)
};

// This process's own.
std::vector<std::string> current_environment();

// `current` and the result are lists of NAME=value.
std::vector<std::string> child_environment(std::span<const std::string> current,
                                           const ToolEnvironment& tool);

// The value of a variable in such a list; empty if it is not there.
std::string value_of(std::span<const std::string> environment, std::string_view name);

}  // namespace barracuda::cli
