#include "cli/harden.h"

#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/complain.h"
#include "cli/output_files.h"
#include "cli/weak_command.h"
#include "ptx/fence_text.h"
#include "report/exit_status.h"
#include "report/hardening_report.h"
#include "weak_memory/hardening.h"

namespace barracuda::cli {
namespace {

using weak_memory::HardeningResult;

// Runs of the program beside each other on a GPU, each of which waits mostly for its context.
constexpr std::size_t kRunsOnGpu = 4;

weak_memory::HardeningOptions hardening_options(const HardenCommand& command) {
  weak_memory::HardeningOptions options;
  options.first_seed = command.options.seed.value_or(1);
  options.iterations = command.iterations;
  options.stable = command.stable;
  options.stores_only = command.stores_only;
  options.keeps_fences = command.keep_fences;
  options.measures_cost = command.cost;
  options.is_repeatable = !is_rewritten(command);
  options.stresses = command.stress;
  return options;
}

// The result as run --fences takes it: what is added, and the program's own that go.
Expected<void> write_fences(const std::string& file, const HardeningResult& result) {
  std::string text = "# Found by barracuda harden: empirically, not formally, right.\n";
  for (const weak_memory::CandidateFence& kept : result.kept) {
    for (const weak_memory::Fence& fence : kept.added) {
      text += ptx::fence_line(fence.place, fence.fence);
    }
  }
  for (const weak_memory::CandidateFence& left_out : result.left_out_own) {
    for (const ptx::OwnFence& own : left_out.own) {
      text += fmt::format("-{}\n", to_string(own.at));
    }
  }
  return write_file(file, text);
}

int status_of(const report::HardeningReport& report, const Options& options) {
  const bool has_kernel = !report.program.coverage.is_empty();
  if ((report.reference_failures != 0 && has_kernel) || report.is_not_cured ||
      (!report.missing.empty() && !report.is_incomplete)) {
    return static_cast<int>(options.error_exitcode);
  }
  const bool was_checked = has_kernel && report.program.coverage.instrumented_kernels() != 0;
  return was_checked && !report.is_incomplete ? 0 : report::kStatusNotChecked;
}

std::size_t runs_at_once(const HardenCommand& command) {
  return command.jobs != 0 ? command.jobs : is_on_gpu(command) ? kRunsOnGpu : 0;
}

int run_harden(HardenCommand& command, weak_memory::Oracle& oracle) {
  const auto directory = run_directory(command);
  if (!directory) {
    return report::kStatusToolFailed;
  }
  // Each set of fences is compiled once, for the runs that try it, and never again.
  if (is_on_gpu(command) && command.options.jit_cache.empty()) {
    command.options.jit_cache = directory->file("jit");
  }
  WeakSession session(command, *directory, runs_at_once(command));
  weak_memory::Trials trials = session.trials(oracle);
  complain(fmt::format(
      "a fence behind every access, reduced by {} runs an answer until {} runs pass; at most {} s, "
      "on {}",
      command.iterations, command.stable, command.time,
      is_on_gpu(command) ? "the GPU" : "the emulated device"));
  const HardeningResult result =
      weak_memory::harden(hardening_options(command), trials,
                          [&session](const std::string& stage) { session.begin(stage); });
  session.end();
  if (const auto none =
          hopeless(command, result.references, result.reason_of_loss, session.runs())) {
    return *none;
  }
  report::HardeningReport report = report_of(result);
  if (report.is_incomplete) {
    report.notes.push_back(why_incomplete(command, "the rest of the runs") +
                           ": less fences may do");
  }
  int status = status_of(report, command.options);
  if (!command.fences.empty() && report.no_result.empty()) {
    if (auto written = write_fences(command.fences, result); written) {
      report.fences_file = command.fences;
    } else {
      report.notes.push_back("--fences: " + written.error().to_string());
      status = report::kStatusToolFailed;
    }
  }
  if (!publish(command.options, report::hardening_json(report), report.program,
               [&report](const report::TextStyle& style) {
                 return report::hardening_text(report, style);
               })) {
    return report::kStatusToolFailed;
  }
  return status;
}

}  // namespace

int harden(HardenCommand command) {
  auto checked = prepare(command, command.stress, "harden");
  if (const int* const status = std::get_if<int>(&checked)) {
    return *status;
  }
  if (const int status = check_output(command.fences); status != 0) {
    return status;
  }
  weak_memory::Oracle oracle(std::get<weak_memory::OracleRules>(std::move(checked)));
  return run_harden(command, oracle);
}

}  // namespace barracuda::cli
