#include "cli/fix.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/complain.h"
#include "cli/output_files.h"
#include "cli/program_run.h"
#include "cli/slice_files.h"
#include "cli/source_files.h"
#include "cli/weak_command.h"
#include "report/exit_status.h"
#include "report/fix_json.h"
#include "report/fix_text.h"
#include "report/symbol_name.h"
#include "report/toolkit_path.h"
#include "report/unified_diff.h"
#include "trace/detector_options.h"
#include "weak_memory/repair.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;
using weak_memory::AppliedEdit;
using weak_memory::Oracle;
using weak_memory::Repair;
using weak_memory::SourceChanges;

Expected<weak_memory::ProgramCode> read_code(const std::vector<std::string>& texts) {
  std::vector<ptx::CodeView> modules;
  for (const std::string& text : texts) {
    TRY(ptx::CodeView module, ptx::CodeView::read(text, [](std::string_view file) {
          return !report::is_toolkit_header(file);
        }));
    modules.push_back(std::move(module));
  }
  return weak_memory::ProgramCode(std::move(modules));
}

const char* name_of(weak_memory::Standing standing) {
  switch (standing) {
    case weak_memory::Standing::kDetector:
      return "detector";
    case weak_memory::Standing::kSimulation:
      return "simulation";
    case weak_memory::Standing::kProof:
      return "proof";
  }
  return "";
}

report::FixEdit reported(const AppliedEdit& applied, const std::string& problem) {
  const weak_memory::Edit& edit = applied.edit;
  report::FixEdit fix{.place = {},
                      .inlined = {},
                      .statement = to_string(edit.changes.front().at),
                      .where = !edit.before.empty()  ? "at"
                               : edit.is_line_before ? "before"
                               : edit.is_behind_loop ? "behind the loop at"
                                                     : "behind",
                      .before = edit.before,
                      .after = edit.after,
                      .cuda = cuda_spelling(edit),
                      .reason = applied.reason,
                      .is_guess = applied.is_guess,
                      .no_diff = problem,
                      .cost = cost_of(edit)};
  for (const ptx::SourceFrame& line : edit.lines) {
    fix.inlined.push_back(
        {.function = report::demangle(line.function), .file = line.file, .line = line.line});
  }
  if (!fix.inlined.empty()) {
    fix.place = fix.inlined.front();
  }
  return fix;
}

std::string diff_of(const SourceChanges& changes) {
  std::string diff;
  for (const auto& [file, texts] : changes.files) {
    diff += report::unified_diff(file, texts.before, texts.after);
  }
  return diff;
}

report::FixReport report_of(const FixCommand& command, const Repair& repair,
                            const SourceChanges& changes) {
  report::FixReport report;
  report.program = repair.before;
  report.repaired_program = repair.after;
  for (std::size_t i = 0; i < repair.edits.size(); ++i) {
    report.edits.push_back(reported(repair.edits[i], changes.problems[i]));
  }
  for (std::size_t i = 0; i < repair.repaired.size(); ++i) {
    report.repaired.push_back({.race = repair.repaired[i], .no_proof = repair.proofs[i].why_not});
  }
  for (const weak_memory::OpenRace& open : repair.open) {
    report.open.push_back({.race = open.race, .why = open.why});
  }
  report.schedules = command.seeds;
  report.failures_before = repair.failures_before.failures;
  report.directed_before = repair.failures_before.runs;
  report.failures_after = repair.failures_after.failures;
  report.directed_after = repair.failures_after.runs;
  report.standing = name_of(repair.standing);
  report.diff = diff_of(changes);
  report.runs = repair.runs;
  report.lost = repair.lost;
  report.is_incomplete = repair.is_incomplete;
  if (repair.lost != 0 && !repair.is_incomplete) {
    report.notes.push_back(
        fmt::format("{} runs could not be made: {}", repair.lost, repair.reason_of_loss));
  }
  if (repair.is_incomplete) {
    report.notes.push_back(why_incomplete(command, "the rest of the search"));
  }
  return report;
}

// Why the source files stay as they are, a clause; empty: they may be changed. A source with half
// of the edits is not what was checked, nor is another source than the one that was compiled.
std::string why_not_write(const SourceChanges& changes, const std::vector<std::string>& newer,
                          const report::FixReport& report) {
  if (report.is_incomplete) {
    return "the search did not come to its end";
  }
  if (std::ranges::any_of(changes.problems,
                          [](const std::string& problem) { return !problem.empty(); })) {
    return "not every edit could be made in the source";
  }
  return newer.empty() ? "" : newer.front() + " is newer than the program";
}

void write_sources(const SourceChanges& changes, const std::vector<std::string>& newer,
                   report::FixReport& report) {
  std::string why_not = why_not_write(changes, newer, report);
  if (why_not.empty()) {
    if (const auto replaced = replace_sources(changes); !replaced) {
      why_not = replaced.error().to_string();
    }
  }
  report.notes.push_back(!why_not.empty() ? "--write: no file was changed, for " + why_not
                         : changes.files.size() == 1
                             ? "--write: " + changes.files.begin()->first + " was changed"
                             : fmt::format("--write: {} files were changed", changes.files.size()));
}

int status_of(const report::FixReport& report, const Options& options) {
  if (!report.tool_failure.empty()) {
    return report::kStatusToolFailed;
  }
  if (report.is_incomplete || report.runs == 0) {
    return report::kStatusNotChecked;
  }
  if (report.races() != 0) {
    return static_cast<int>(options.error_exitcode);
  }
  const bool was_checked =
      !report.program.coverage.is_empty() && report.program.coverage.instrumented_kernels() != 0;
  return was_checked ? 0 : report::kStatusNotChecked;
}

// The PTX of the repaired program, written by one more run of it.
Expected<void> write_ptx(const FixCommand& command, const Repair& repair, WeakRuns& runs) {
  if (command.ptx_folder.empty() || repair.edits.empty() || ProgramRuns::is_interrupted()) {
    return {};
  }
  std::error_code error;
  fs::create_directories(command.ptx_folder, error);
  if (error) {
    return unexpected({.message = command.ptx_folder + ": " + error.message()});
  }
  weak_memory::Settings settings{.wants_ptx = true};
  for (const AppliedEdit& applied : repair.edits) {
    settings.edits.insert(settings.edits.end(), applied.edit.changes.begin(),
                          applied.edit.changes.end());
  }
  const auto outcomes = runs.make({settings});
  if (!outcomes.front().lost.empty()) {
    return unexpected({.message = "--ptx: " + outcomes.front().lost});
  }
  for (std::size_t i = 0; i < outcomes.front().ptx.size(); ++i) {
    const std::string file = fmt::format("{}/module{}.ptx", command.ptx_folder, i + 1);
    if (auto written = write_file(file, outcomes.front().ptx[i]); !written) {
      return written;
    }
  }
  return {};
}

Expected<void> write_files(const FixCommand& command, const SourceChanges& changes,
                           report::FixReport& report) {
  const std::vector<std::string> newer = newer_than_program(changes, command.program.front());
  for (const std::string& file : newer) {
    report.notes.push_back(file +
                           " is newer than the program: if its lines have moved since it was "
                           "compiled, edits stand at the wrong ones. Build it and try again");
  }
  if (command.write && !report.edits.empty()) {
    write_sources(changes, newer, report);
  }
  return write_if_named(command.diff, report.diff);
}

weak_memory::Prove prover(const Options& options) {
  return [&options](const std::vector<report::Lack>& lacks, const std::string& before,
                    const std::string& after) {
    auto proof = weak_memory::prove_repair(lacks, before, after, trace::detector_options(options));
    return proof ? *std::move(proof)
                 : weak_memory::IdiomProof{
                       .why_not = proof.error().to_string(), .before = "", .after = ""};
  };
}

Expected<void> write_slices(const FixCommand& command, const Repair& repair) {
  const SliceFiles files(command.litmus);
  for (std::size_t i = 0; i < repair.proofs.size(); ++i) {
    if (auto written = files.write(i + 1, "", repair.proofs[i].before); !written) {
      return written;
    }
    if (auto written = files.write(i + 1, ".repaired", repair.proofs[i].after); !written) {
      return written;
    }
  }
  return {};
}

void tell_plan(const FixCommand& command) {
  complain(fmt::format(
      "{} schedules of the program as it is; edits for each race, each set of them with {} "
      "schedules; at most {} directed runs for each race, before and after; at most {} s, on the "
      "emulated device",
      command.seeds, command.seeds, command.per_race, command.time));
}

int run_fix(const FixCommand& command, const weak_memory::OracleRules& rules) {
  const auto directory = run_directory(command);
  if (!directory) {
    return report::kStatusToolFailed;
  }
  WeakSession session(command, *directory);
  Oracle oracle(rules);
  weak_memory::Trials trials = session.trials(oracle);
  const weak_memory::RepairOptions options{.first_seed = command.options.seed.value_or(1),
                                           .seeds = command.seeds,
                                           .per_race = command.per_race,
                                           .with_barriers = !command.no_barriers,
                                           .prove = prover(command.options)};
  tell_plan(command);
  const Repair repair = find_repair(options, trials, rules, read_code,
                                    [&session](const std::string& stage) { session.begin(stage); });
  session.end();
  if (const auto status = no_such_check(command, repair.check_status)) {
    return *status;
  }
  if (repair.runs == 0) {
    if (const auto status = no_run_at_all(session.runs(), repair.reason_of_loss)) {
      return *status;
    }
  }
  std::vector<weak_memory::Edit> edits;
  std::ranges::transform(repair.edits, std::back_inserter(edits), &AppliedEdit::edit);
  const SourceChanges changes = change_source(edits, read_source);
  report::FixReport report = report_of(command, repair, changes);
  auto published = write_ptx(command, repair, session.runs());
  if (published) {
    published = write_files(command, changes, report);
  }
  if (published) {
    published = write_slices(command, repair);
  }
  if (!published) {
    report.tool_failure = published.error().to_string();
  }
  if (!publish(command.options, report::fix_json_report(report), report.program,
               [&report](const report::TextStyle& style) {
                 return report::fix_text_report(report, style);
               })) {
    return report::kStatusToolFailed;
  }
  return status_of(report, command.options);
}

}  // namespace

int fix(FixCommand command) {
  if (command.options.device == "gpu") {
    complain(
        "fix: candidates are tried on the emulated device; without --device gpu the program runs "
        "there");
    return report::kStatusBadOption;
  }
  command.options.device = "cpu";
  auto checked = checked_rules(command);
  if (const int* const status = std::get_if<int>(&checked)) {
    return *status;
  }
  if (const int status = check_output(command.diff); status != 0) {
    return status;
  }
  return run_fix(command, std::get<weak_memory::OracleRules>(checked));
}

}  // namespace barracuda::cli
