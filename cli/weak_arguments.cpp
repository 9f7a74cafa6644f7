#include "cli/weak_arguments.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/number_text.h"

namespace barracuda::cli {
namespace {

// Options of `run` that keep their meaning here.
constexpr std::array<std::string_view, 26> kRunOptions = {
    "device",         "seed",         "json",           "log-file",
    "strip-paths",    "kernel-name",  "suppressions",   "severity",
    "error-exitcode", "launch-skip",  "launch-count",   "kernel-name-exclude",
    "time-limit",     "log",          "model",          "delay-spaces",
    "delay-kernel",   "delay-levels", "delay-capacity", "delay-age",
    "split-vectors",  "coherence",    "shuffle",        "stress-parameters",
    "stress-time",    "html"};

// "90", "90s", "10m", "2h" in seconds.
std::optional<std::uint64_t> seconds_of(std::string_view text) {
  const auto number = take_number<std::uint64_t>(text);
  const std::string_view unit = text;
  constexpr std::uint64_t kMinute = 60, kHour = 3600, kMost = 1'000'000;
  const std::uint64_t factor = unit.empty() || unit == "s" ? 1
                               : unit == "m"               ? kMinute
                               : unit == "h"               ? kHour
                                                           : 0;
  if (!number || factor == 0 || *number == 0 || *number > kMost) {
    return std::nullopt;
  }
  return *number * factor;
}

}  // namespace

WeakArguments::WeakArguments(CLI::App& app, WeakCommand& command) : app_(app), command_(command) {
  app_.set_help_flag("--help,-h", "print this help");
  app_.prefix_command();
  app_.add_option("--time", time_, "how long all of it may take: 90s, 10m, 2h")
      ->capture_default_str();
  app_.add_option("--check", command_.check,
                  "a command of the shell that fails if the result is wrong; %o is the file with "
                  "the program's output");
  app_.add_option("--compare-output", command_.compare_output,
                  "stdout: with that of the first run; none; or a file with what is right "
                  "(default: stdout, if the runs without delays agree)");
  app_.add_option("--expect-status", command_.expect_status, "the exit status of a good run")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app_.add_flag("--stores-only", command_.stores_only, "no stale reads, no late loads");
  for (const OptionDescription& option : option_descriptions()) {
    if (std::ranges::find(kRunOptions, option.name) != kRunOptions.end()) {
      app_.add_option("--" + std::string(option.name), values_[std::string(option.name)],
                      std::string(option.help))
          ->type_name(option.type == "Text" ? "TEXT" : "NUMBER")
          ->default_str(std::string(option.default_value))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

Message WeakArguments::error(const std::string& text) const {
  return usage_error(text, app_.get_name());
}

std::optional<Message> WeakArguments::parse(const std::vector<std::string>& words,
                                            const std::string& environment_options) {
  // What stands behind -- is the program's; without it, what the first other word begins.
  const auto mark = std::ranges::find(words, "--");
  if (auto message = parse_flags(app_, {words.begin(), mark})) {
    return message;
  }
  command_.program = app_.remaining();
  if (!command_.program.empty() &&
      (command_.program.front().starts_with('-') || mark != words.end())) {
    return error(unknown_option(command_.program.front(), app_));
  }
  if (mark != words.end()) {
    command_.program.assign(mark + 1, words.end());
  }
  return take_options(environment_options);
}

std::optional<Message> WeakArguments::take_options(const std::string& environment_options) {
  if (auto parsed = parse_options(command_.options, environment_options); !parsed) {
    return error("BARRACUDA_OPTIONS: " + parsed.error().message);
  }
  for (const auto& [name, value] : values_) {
    if (app_.count("--" + name) != 0) {
      if (auto set = set_option(command_.options, name, value); !set) {
        return error(set.error().message);
      }
    }
  }
  const auto time = seconds_of(time_);
  if (!time) {
    return error(fmt::format("--time={}: a time is 90s, 10m or 2h", time_));
  }
  command_.time = *time;
  if (command_.program.empty()) {
    return error(fmt::format("no program to run: barracuda {} [options] -- ./app arguments",
                             app_.get_name()));
  }
  return std::nullopt;
}

}  // namespace barracuda::cli
