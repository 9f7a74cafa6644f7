// What the command lines of expose and harden have in common: the program behind the flags, the
// oracle's flags, the time, and the options of `run` that keep their meaning.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace barracuda::cli {

class WeakArguments {
 public:
  // Both outlive it. `name`: the command's.
  WeakArguments(CLI::App& app, WeakCommand& command, std::string name);

  // The words behind the command's name. What is wrong with them, or the help that they ask for;
  // nothing: the command has what they say.
  std::optional<Message> parse(const std::vector<std::string>& words,
                               const std::string& environment_options);

  // "barracuda: TEXT (see barracuda NAME --help)"
  [[nodiscard]] Message error(const std::string& text) const;

 private:
  std::optional<Message> take_options(const std::string& environment_options);

  CLI::App& app_;
  WeakCommand& command_;
  std::string name_;
  std::string time_ = "10m";
  std::map<std::string, std::string> values_;  // of the options of `run`, by name
};

}  // namespace barracuda::cli
