#include "cli/weak_command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/driver_presence.h"
#include "base/file.h"
#include "cli/complain.h"
#include "cli/output_files.h"
#include "report/exit_status.h"
#include "report/html.h"
#include "report/publish.h"
#include "weak_memory/stress_parameters.h"

namespace barracuda::cli {
namespace {

// The time limit of a run, in seconds, where the user sets none: kSlower times the slowest run that
// has ended by itself so far. Runs with a store that is held for a reader, and with fences, can
// take fifty times as long as those without delays; one that is ended too early is taken for a
// hang.
constexpr double kSlower = 10;
constexpr std::uint64_t kLeastLimit = 20, kMostLimit = 60;

}  // namespace

Expected<weak_memory::OracleRules> oracle_rules(const WeakCommand& command) {
  using weak_memory::CompareOutput;
  weak_memory::OracleRules rules;
  rules.expected_status = command.expect_status;
  if (command.compare_output == "stdout") {
    rules.compare = CompareOutput::kAlways;
  } else if (command.compare_output == "none") {
    rules.compare = CompareOutput::kNever;
  } else if (!command.compare_output.empty()) {
    rules.compare = CompareOutput::kText;
    TRY(rules.expected_output, read_file(command.compare_output));
  }
  return rules;
}

weak_memory::RunAll with_limit(WeakRuns& runs, bool is_given) {
  if (!is_given) {
    runs.set_time_limit(kMostLimit);
  }
  return [&runs, is_given](const std::vector<weak_memory::Settings>& all) {
    std::vector<weak_memory::Outcome> outcomes = runs.make(all);
    if (!is_given) {
      runs.set_time_limit(std::clamp(static_cast<std::uint64_t>(runs.slowest() * kSlower),
                                     kLeastLimit, kMostLimit));
    }
    return outcomes;
  };
}

std::optional<int> no_run_at_all(const WeakRuns& runs, const std::string& reason) {
  if (!runs.first_loss() || ProgramRuns::is_interrupted()) {
    return std::nullopt;
  }
  const auto& [status, messages] = *runs.first_loss();
  if (messages.empty()) {
    complain("no run could be made: " + reason);
  }
  std::fputs(messages.c_str(), stderr);
  const bool is_told = status == report::kStatusBadOption || status == 126 || status == 127 ||
                       status == report::kStatusToolFailed;
  return is_told ? status : report::kStatusNotChecked;
}

std::optional<int> hopeless(const WeakCommand& command,
                            const weak_memory::ReferenceRuns& references,
                            const std::string& reason_of_loss, const WeakRuns& runs) {
  if (references.made == 0) {
    if (const auto status = no_run_at_all(runs, reason_of_loss)) {
      return status;
    }
  }
  if (references.failure == weak_memory::Failure::kCheck &&
      (references.check_status == 126 || references.check_status == 127)) {
    complain(fmt::format("--check={}: there is no such command", command.check));
    return report::kStatusBadOption;
  }
  return std::nullopt;
}

std::optional<RunDirectory> run_directory(const WeakCommand& command) {
  auto directory = RunDirectory::create();
  if (!directory) {
    complain(directory.error().to_string());
    return std::nullopt;
  }
  if (auto described = directory->describe(command.program.front(), command.options); !described) {
    complain(described.error().to_string());
    return std::nullopt;
  }
  return *std::move(directory);
}

WeakSession::WeakSession(const WeakCommand& command, const RunDirectory& directory,
                         std::size_t at_once)
    : command_(command),
      at_once_(at_once),
      runs_({.options = command.options,
             .program = command.program,
             .check = command.check,
             .at_once = at_once},
            directory, [this](std::uint64_t made) {
              line_.tell([&] {
                return fmt::format("{} runs, {} s: {}", made, line_.age().count(), stage_);
              });
            }) {}

weak_memory::Trials WeakSession::trials(weak_memory::Oracle& oracle) {
  return {with_limit(runs_, command_.options.time_limit != 0), oracle,
          [this] {
            return ProgramRuns::is_interrupted() ||
                   line_.age() >= std::chrono::seconds(command_.time);
          },
          std::max(weak_memory::Trials::kAtOnce, is_on_gpu(command_) ? at_once_ : 0)};
}

std::string why_incomplete(const WeakCommand& command, const std::string& what) {
  return ProgramRuns::is_interrupted()
             ? "an interruption kept " + what + " from being made"
             : fmt::format("the time was over after {} s (--time)", command.time);
}

Expected<void> publish(const Options& options, const std::string& json,
                       const report::Report& program,
                       const std::function<std::string(const report::TextStyle&)>& text) {
  if (!options.json.empty()) {
    TRY(const std::string file, expand_file_name(options.json));
    if (auto written = write_file(file, json); !written) {
      return written;
    }
  }
  if (!options.html.empty()) {
    TRY(const std::string file, expand_file_name(options.html));
    if (auto written = write_file(file, report::html_report(program, json)); !written) {
      return written;
    }
  }
  if (options.log_file.empty()) {
    return report::write_to_stderr(
        text(report::text_style(options, report::TextTarget::kStandardError)));
  }
  TRY(const std::string file, expand_file_name(options.log_file));
  return write_file(file, text(report::text_style(options, report::TextTarget::kFile)));
}

std::variant<weak_memory::OracleRules, int> checked_rules(const WeakCommand& command) {
  if (const int status = check_files(command.options); status != 0) {
    return status;
  }
  auto rules = oracle_rules(command);
  if (!rules) {
    complain("--compare-output: " + rules.error().to_string());
    return report::kStatusBadOption;
  }
  return *std::move(rules);
}

bool is_on_gpu(const WeakCommand& command) {
  return command.options.device == "gpu";
}

bool is_rewritten(const WeakCommand& command) {
  return is_on_gpu(command) || command.options.delay_levels == "rewrite";
}

Expected<void> find_stress_file(WeakCommand& command) {
  if (!command.options.stress_parameters.empty() || !is_on_gpu(command)) {
    return {};
  }
  TRY(const auto device, weak_memory::LitmusDevice::gpu());
  const std::string file = weak_memory::stress_file(*device);
  if (!file.empty() && std::filesystem::exists(file)) {
    command.options.stress_parameters = file;
  } else {
    complain("this GPU and driver were not tuned (barracuda tune): with the stress of Hopper");
  }
  return {};
}

std::optional<int> refused_device(const WeakCommand& command, bool stress,
                                  const std::string& name) {
  if (!is_on_gpu(command) && stress) {
    complain(name +
             ": --stress: the emulated device has no hardware to stress; without it stores are "
             "delayed and loads stale there, with a new seed and schedule a run");
    return report::kStatusBadOption;
  }
  if (is_on_gpu(command) && !driver_is_present()) {
    complain(name +
             ": there is no GPU; without --device gpu the program runs on the emulated device");
    return report::kStatusBadOption;
  }
  return std::nullopt;
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char each : word) {
    quoted += each == '\'' ? std::string("'\\''") : std::string(1, each);
  }
  return quoted + "'";
}

}  // namespace barracuda::cli
