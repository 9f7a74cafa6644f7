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

// Errors: a file that is to be compared with, and cannot be read.
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

// Makes runs and, unless the user has set a limit of time, gives each next one a limit by how long
// those before have taken; the first have a minute.
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

// On a GPU, if the options name no stress: the stress that it was tuned to. Prints that it was not.
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

// Prints why and returns the status for main where there is no such device, or none that can be
// stressed.
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

}  // namespace

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
  if (references.failure == weak_memory::Failure::kCheck) {
    return no_such_check(command, references.check_status);
  }
  return std::nullopt;
}

std::optional<int> no_such_check(const WeakCommand& command, int check_status) {
  if (!weak_memory::is_no_command(check_status)) {
    return std::nullopt;
  }
  complain(fmt::format("--check={}: there is no such command", command.check));
  return report::kStatusBadOption;
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

bool publish(const Options& options, const std::string& json, const report::Report& program,
             const std::function<std::string(const report::TextStyle&)>& text) {
  const auto text_for = [&](report::TextTarget target) {
    return text(report::text_style(options, target));
  };
  Expected<void> written;
  if (!options.json.empty()) {
    written = report::write_named_file(options.json, json);
  }
  if (written && !options.html.empty()) {
    written = report::write_named_file(options.html, report::html_report(program, json));
  }
  if (written) {
    written = options.log_file.empty()
                  ? report::write_to_stderr(text_for(report::TextTarget::kStandardError))
                  : report::write_named_file(options.log_file, text_for(report::TextTarget::kFile));
  }
  if (!written) {
    complain(written.error().to_string());
  }
  return written.has_value();
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

std::variant<weak_memory::OracleRules, int> prepare(WeakCommand& command, bool stress,
                                                    const std::string& name) {
  if (const auto status = refused_device(command, stress, name)) {
    return *status;
  }
  command.options.device = is_on_gpu(command) ? "gpu" : "cpu";
  auto checked = checked_rules(command);
  if (!stress || std::holds_alternative<int>(checked)) {
    return checked;
  }
  if (const auto found = find_stress_file(command); !found) {
    complain(name + ": " + found.error().to_string());
    return report::kStatusNotChecked;
  }
  return checked;
}

bool is_on_gpu(const WeakCommand& command) {
  return command.options.device == "gpu";
}

bool is_rewritten(const WeakCommand& command) {
  return is_on_gpu(command) || command.options.delay_levels == "rewrite";
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
