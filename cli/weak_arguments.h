// What the command lines of expose, harden and fix have in common: the program behind the flags,
// the oracle's flags, the time, and the options of `run` that keep their meaning.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {

class WeakArguments {
 public:
  // Both outlive it. The application has the command's name.
  WeakArguments(CLI::App& app, WeakCommand& command);

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
  std::string time_ = "10m";
  std::map<std::string, std::string> values_;  // of the options of `run`, by name
};

// The command line of one of these commands: what is its own, a class derived from this adds.
template <typename WeakKind>
class WeakParser {
 public:
  WeakParser(const char* description, const char* footer, const std::string& name)
      : app_(description, name), common_(app_, command_) {
    app_.footer(footer);
  }

  Command parse(const std::vector<std::string>& words, const std::string& environment_options) {
    if (auto message = common_.parse(words, environment_options)) {
      return *std::move(message);
    }
    return command_;
  }

 protected:
  CLI::App app_;
  WeakKind command_;
  WeakArguments common_;
};

}  // namespace barracuda::cli
