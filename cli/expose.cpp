#include "cli/expose.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/sha256.h"
#include "cli/complain.h"
#include "cli/weak_command.h"
#include "cli/weak_plan.h"
#include "report/exit_status.h"
#include "report/weak_json.h"
#include "report/weak_text.h"
#include "weak_memory/campaign.h"
#include "weak_memory/environments.h"
#include "weak_memory/findings.h"

namespace barracuda::cli {
namespace {

using weak_memory::CampaignResult;
using weak_memory::Oracle;
using weak_memory::Settings;

weak_memory::CampaignOptions campaign_options(const ExposeCommand& command) {
  weak_memory::CampaignOptions options;
  options.is_repeatable = !is_rewritten(command);
  options.first_seed = command.options.seed.value_or(1);
  options.runs = command.runs;
  options.probabilities = command.probabilities;
  options.per_race = command.per_race;
  options.directed = !command.random;
  options.stores_only = command.stores_only;
  options.all = command.all;
  options.stresses = command.stress;
  options.root_cause = !command.no_root_cause;
  return options;
}

void tell_plan(const ExposeCommand& command, const weak_memory::CampaignOptions& options) {
  if (options.stresses) {
    complain(fmt::format(
        "{} runs as it is, then {} with delayed stores or stress, {} of each environment; at most "
        "{} s, on the GPU",
        options.references, options.runs * weak_memory::environments(options.probabilities).size(),
        options.runs, command.time));
    return;
  }
  complain(fmt::format(
      "{} runs without delays{}, then {} with delayed stores (p = {}){}; at most {} s, on {}",
      options.references,
      options.directed && options.is_repeatable
          ? fmt::format(", at most {} directed ones for each race", options.per_race)
          : "",
      options.runs, fmt::join(options.probabilities, ", "),
      options.stores_only || !options.is_repeatable
          ? ""
          : fmt::format(" and {} with stale reads and late loads besides", options.runs),
      command.time, is_on_gpu(command) ? "the GPU" : "the emulated device"));
}

// The settings that a plan is to repeat, one of each failure.
const Settings& witness_of(const weak_memory::ExposedFailure& failure) {
  const auto reduced = std::ranges::find_if(failure.causes, &weak_memory::RootCause::is_reduced);
  return reduced == failure.causes.end() ? failure.settings : reduced->reduced;
}

// Where no plan repeats a run: the same settings, under which some runs fail.
void tell_settings(const ExposeCommand& command, const CampaignResult& result,
                   report::WeakReport& report) {
  std::vector<std::string> words;
  std::ranges::transform(command.program, std::back_inserter(words), shell_word);
  for (std::size_t i = 0; i < result.failures.size(); ++i) {
    const Settings& settings = result.failures[i].settings;
    std::string again =
        fmt::format("barracuda run --device {} --delay-levels rewrite", command.options.device);
    for (const auto& [name, value] : weakness_options(settings)) {
      again += name == "delay-levels" ? "" : fmt::format(" --{} {}", name, value);
    }
    if (!settings.weakness.stress.empty() && !command.options.stress_parameters.empty()) {
      again += " --stress-parameters " + shell_word(command.options.stress_parameters);
    }
    report.failures[i].again =
        fmt::format("{} --weak-seed {} -- {}", again, settings.seed, fmt::join(words, " "));
  }
  report.notes.emplace_back(
      "stores were delayed by rewriting the program: no run can be repeated exactly, so all "
      "answers are rates of runs; races direct nothing, which store was late and who read the old "
      "value is "
      "not known, and neither stale reads nor fences that are too narrow are shown (without "
      "--device gpu the emulated device does all that)");
}

// What the run of a plan writes to standard output, if that is the same each time: not if it was
// ended by the time limit.
std::string output_sha(weak_memory::Trials& trials, const Settings& witness) {
  const std::vector<weak_memory::Outcome> outcomes = trials.make({witness, witness});
  const bool is_same = std::ranges::all_of(outcomes, [&](const weak_memory::Outcome& outcome) {
    return outcome.lost.empty() && !outcome.is_over_time &&
           outcome.output == outcomes.front().output;
  });
  return is_same ? sha256_hex(outcomes.front().output) : "";
}

void write_plans(const ExposeCommand& command, const CampaignResult& result,
                 weak_memory::Trials& trials, report::WeakReport& report) {
  const std::string name =
      command.plan.empty()
          ? std::filesystem::path(command.program.front()).filename().string() + ".weakness"
          : command.plan;
  std::vector<std::string> words;
  std::ranges::transform(command.program, std::back_inserter(words), shell_word);
  for (std::size_t i = 0; i < result.failures.size(); ++i) {
    const std::string file = i == 0 ? name : fmt::format("{}.{}", name, i + 1);
    const Settings& witness = witness_of(result.failures[i]);
    session::Plan plan = plan_of(
        command.program, witness,
        {.failure = name_of(result.failures[i].failure),
         .output_sha = result.failures[i].is_repeatable ? output_sha(trials, witness) : ""});
    if (command.options.shuffle != "none") {
      plan.weakness["shuffle"] = command.options.shuffle;
    }
    if (const auto written = write_file(file, to_string(plan)); !written) {
      report.tool_failure = written.error().to_string();
      return;
    }
    report.failures[i].plan = file;
    report.failures[i].again =
        fmt::format("barracuda run --weakness {} -- {}", shell_word(file), fmt::join(words, " "));
  }
}

int status_of(const report::WeakReport& report, const Options& options) {
  if (!report.tool_failure.empty()) {
    return report::kStatusToolFailed;
  }
  const bool has_kernel = !report.program.coverage.is_empty();
  if (!report.failures.empty() || (report.reference_failures != 0 && has_kernel)) {
    return static_cast<int>(options.error_exitcode);
  }
  const bool was_checked =
      report.weak_runs != 0 && has_kernel && report.program.coverage.instrumented_kernels() != 0;
  return was_checked && !report.is_incomplete ? 0 : report::kStatusNotChecked;
}

int run_expose(const ExposeCommand& command, Oracle& oracle) {
  const auto directory = run_directory(command);
  if (!directory) {
    return report::kStatusToolFailed;
  }
  WeakSession session(command, *directory);
  weak_memory::Trials trials = session.trials(oracle);
  const weak_memory::CampaignOptions options = campaign_options(command);
  tell_plan(command, options);
  const CampaignResult result = weak_memory::run_campaign(
      options, trials, [&session](const std::string& stage) { session.begin(stage); });
  session.end();
  if (const auto status =
          hopeless(command, result.references, result.reason_of_loss, session.runs())) {
    return *status;
  }
  report::WeakReport report = weak_memory::report_of(result);
  if (result.is_incomplete) {
    report.notes.push_back(why_incomplete(command, "the rest of the runs"));
  }
  if (command.flush_lengths) {
    report.tables = weak_memory::drain_table(result);
  }
  const bool has_failed = std::ranges::any_of(
      result.environments, [](const auto& each) { return each.rate.failures != 0; });
  if (command.stress && (command.all || has_failed)) {
    const auto rates = weak_memory::environment_table(result.references, result.environments);
    report.tables.insert(report.tables.end(), rates.begin(), rates.end());
  }
  if (is_rewritten(command)) {
    tell_settings(command, result, report);
  } else {
    write_plans(command, result, trials, report);
  }
  if (!publish(command.options, report::weak_json_report(report), report.program,
               [&report](const report::TextStyle& style) {
                 return report::weak_text_report(report, style);
               })) {
    return report::kStatusToolFailed;
  }
  return status_of(report, command.options);
}

}  // namespace

int expose(ExposeCommand command) {
  auto checked = prepare(command, command.stress, "expose");
  if (const int* const status = std::get_if<int>(&checked)) {
    return *status;
  }
  weak_memory::Oracle oracle(std::get<weak_memory::OracleRules>(std::move(checked)));
  return run_expose(command, oracle);
}

}  // namespace barracuda::cli
