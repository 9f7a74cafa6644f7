#include "cli/weak_runs.h"

#include <algorithm>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/child_process.h"
#include "cli/status_line.h"
#include "cli/weak_plan.h"
#include "ptx/fence_text.h"
#include "report/publish.h"
#include "session/execution_log.h"
#include "session/weak_log.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;
using weak_memory::Outcome;
using weak_memory::Settings;

// The files that the processes of one run have written, by the beginning of their names.
std::vector<std::string> files_beginning_with(const std::string& beginning) {
  std::vector<std::string> files;
  const fs::path path(beginning);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), error)) {
    if (entry.path().filename().string().starts_with(path.filename().string())) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) {
    return "";
  }
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

void add(session::KernelTime& all, const session::KernelTime& more) {
  all.launches += more.launches;
  all.nanoseconds += more.nanoseconds;
  all.no_energy = all.no_energy.empty() ? more.no_energy : all.no_energy;
  if (more.millijoules) {
    all.millijoules = all.millijoules.value_or(0) + *more.millijoules;
  }
}

}  // namespace

WeakRuns::WeakRuns(WeakProgram program, const RunDirectory& directory, Tell tell)
    : program_(std::move(program)),
      directory_(directory),
      tell_(std::move(tell)),
      runs_(directory),
      time_limit_(program_.options.time_limit) {}

std::vector<Outcome> WeakRuns::make(const std::vector<Settings>& all) {
  std::vector<Outcome> outcomes(all.size());
  const std::uint64_t first = next_;
  next_ += all.size();
  const std::size_t at_once =
      program_.at_once == 0 ? programs_at_once(program_.options) : program_.at_once;
  const WaitInterrupts interrupts;
  std::size_t started = 0;
  const auto start_next = [&] {
    const Settings& settings = all[started];
    const std::uint64_t number = first + started;
    Outcome& outcome = outcomes[started++];
    const auto options = options_of(number, settings);
    if (!options) {
      outcome.lost = options.error().to_string();
    } else if (ProgramRuns::is_interrupted()) {
      outcome.lost = "it was interrupted";
    } else {
      const ProgramRun run{
          .command = {.options = *options, .program = program_.program, .report_file = ""},
          .has_our_streams = false,
          .keeps_output = true};
      if (!runs_.start(number, run)) {
        outcome.lost = "no process could be made for it";
      }
    }
  };
  while (started < all.size() || runs_.running() != 0) {
    if (started < all.size() && runs_.running() < at_once) {
      start_next();
    } else if (const auto ended = runs_.wait_for_one()) {
      outcomes[ended->number - first] = outcome_of(*ended, all[ended->number - first]);
      tell_(++made_);
    } else {
      tell_(made_);
    }
  }
  return outcomes;
}

// Not one of those that go when the run has ended.
std::string WeakRuns::trace_file(std::uint64_t number) const {
  return directory_.file(fmt::format("trace{}", number));
}

Expected<WeakRuns::Files> WeakRuns::write_files(std::uint64_t number,
                                                const Settings& settings) const {
  const auto name = [&](const char* kind) {
    return directory_.file(fmt::format("run{}.{}", number, kind));
  };
  Files files;
  if (settings.weakness.decisions) {
    files.plan = name("plan");
    if (auto written = write_file(files.plan, to_string(plan_of(program_.program, settings, {})));
        !written) {
      return unexpected(std::move(written).error());
    }
  }
  if (!settings.fences.empty() || !settings.edits.empty()) {
    files.fences = name("fences");
    std::string text;
    for (const ptx::OrderEdit& edit : settings.edits) {
      text += ptx::edit_line(edit);
    }
    for (const weak_memory::Fence& fence : settings.fences) {
      text += ptx::fence_line(fence.place, fence.fence);
    }
    if (auto written = write_file(files.fences, text); !written) {
      return unexpected(std::move(written).error());
    }
  }
  files.log = settings.wants_log ? name("log.%p") : "";
  files.counts = settings.wants_counts ? name("counts.%p") : "";
  files.places = settings.wants_places ? name("places.%p") : "";
  files.trace = settings.wants_trace ? trace_file(number) : "";
  if (settings.wants_ptx) {
    files.ptx = name("ptx");
    std::error_code error;
    if (!fs::create_directory(files.ptx, error)) {
      return unexpected({.message = "no folder could be made for PTX: " + error.message()});
    }
  }
  return files;
}

Expected<Options> WeakRuns::options_of(std::uint64_t number, const Settings& settings) const {
  Options options = program_.options;
  options.seeds = 0;
  options.schedule = "auto";
  if (options.device == "gpu") {
    options.seed.reset();  // nobody chooses the schedule of a GPU
    options.weak_seed = settings.seed;
  } else {
    options.seed = settings.seed;
  }
  // The driver compiles a program that is timed, as it would without the tool: in full.
  if (settings.wants_counts && options.device == "gpu") {
    options.jit_cache = "none";
  }
  options.time_limit = time_limit_;
  options.report = "end";
  std::vector<std::string*> files_of_campaign = report_files(options);
  files_of_campaign.insert(files_of_campaign.end(), {&options.record, &options.baseline});
  for (std::string* const file : files_of_campaign) {
    file->clear();  // of the campaign, not of its runs
  }
  TRY(const Files files, write_files(number, settings));
  auto resolved = resolve_schedule(options);
  std::vector<std::pair<std::string, std::string>> more = weakness_options(settings);
  for (const auto& [name, value] :
       {std::pair{"weakness", &files.plan}, std::pair{"fences", &files.fences},
        std::pair{"weak-log", &files.log}, std::pair{"fence-places", &files.places},
        std::pair{"execution-log", &files.counts}, std::pair{"ptx-folder", &files.ptx},
        std::pair{"record", &files.trace}}) {
    if (!value->empty()) {
      more.emplace_back(name, *value);
    }
  }
  for (const auto& [name, value] : more) {
    if (resolved) {
      resolved = set_option(options, name, value);
    }
  }
  if (!resolved) {
    return unexpected(std::move(resolved).error());
  }
  return options;
}

Outcome WeakRuns::outcome_of(const ProgramEnded& ended, const Settings& settings) {
  Outcome outcome;
  outcome.seconds = ended.time.count();
  const auto lose = [&](std::string reason) {
    outcome.lost = std::move(reason);
    if (!first_loss_) {
      first_loss_ = {ended.status, runs_.messages(ended.number)};
    }
  };
  if (ProgramRuns::is_interrupted()) {
    outcome.lost = "it was interrupted";
  } else if (!ended.report) {
    const std::string said = last_line(runs_.messages(ended.number));
    lose(said.empty() ? fmt::format("it left no report, status {}", ended.status) : said);
  } else {
    outcome.report = *ended.report;
    report::apply_filters(outcome.report, program_.options);
    outcome.status = outcome.report.own_status;
    outcome.is_over_time = time_limit_ != 0 && outcome.seconds >= static_cast<double>(time_limit_);
    slowest_ = outcome.is_over_time ? slowest_ : std::max(slowest_, outcome.seconds);
    for (const std::string* const problem :
         {&outcome.report.tool_failure, &outcome.report.option_error}) {
      if (!problem->empty() && outcome.lost.empty()) {
        lose(*problem);
      }
    }
    const std::string output = runs_.output_file(ended.number);
    outcome.output = read_file(output).value_or("");
    if (outcome.lost.empty() && !program_.check.empty()) {
      outcome.check_status = run_check(output);
    }
    outcome.trace = settings.wants_trace ? trace_file(ended.number) : "";
    if (auto read = read_files(ended.number, settings, outcome); !read && outcome.lost.empty()) {
      lose(read.error().to_string());
    }
  }
  runs_.remove_files(ended.number);
  for (const std::string& file :
       files_beginning_with(directory_.file(fmt::format("run{}.", ended.number)))) {
    std::error_code error;
    fs::remove_all(file, error);
  }
  return outcome;
}

Expected<void> WeakRuns::read_files(std::uint64_t number, const Settings& settings,
                                    Outcome& outcome) const {
  if (settings.wants_log) {
    for (const std::string& file :
         files_beginning_with(directory_.file(fmt::format("run{}.log.", number)))) {
      TRY(const std::string text, read_file(file));
      TRY(const emulator::WeakLog log, session::parse_weak_log(text));
      outcome.log.add(log);
    }
  }
  if (settings.wants_places) {
    for (const std::string& file :
         files_beginning_with(directory_.file(fmt::format("run{}.places.", number)))) {
      TRY(const std::string text, read_file(file));
      TRY(const std::vector<ptx::FenceLine> lines, ptx::parse_fences(text, file));
      for (const ptx::FenceLine& line : lines) {
        if (line.place) {
          outcome.fences.places.push_back(*line.place);
        }
      }
      const std::vector<ptx::OwnFence> own = ptx::parse_own_fences(text);
      outcome.fences.own.insert(outcome.fences.own.end(), own.begin(), own.end());
    }
  }
  if (settings.wants_counts) {
    for (const std::string& file :
         files_beginning_with(directory_.file(fmt::format("run{}.counts.", number)))) {
      TRY(const std::string text, read_file(file));
      TRY(const session::ExecutionLog log, session::parse_execution_log(text));
      outcome.counts.warp_instructions += log.counts.warp_instructions;
      outcome.counts.fences += log.counts.fences;
      add(outcome.time, log.time);
    }
  }
  if (settings.wants_ptx) {
    for (const std::string& file :
         files_beginning_with(directory_.file(fmt::format("run{}.ptx/", number)))) {
      TRY(std::string text, read_file(file));
      outcome.ptx.push_back(std::move(text));
    }
  }
  return {};
}

int WeakRuns::run_check(const std::string& output) const {
  std::string command = replaced(program_.check, "%o", "'" + output + "'");
  std::string shell = "sh";
  std::string option = "-c";
  char* const words[] = {shell.data(), option.data(), command.data(), nullptr};
  pid_t process = 0;
  if (posix_spawn(&process, "/bin/sh", nullptr, nullptr, words, environ) != 0) {
    return 127;
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return shell_status(status);
}

}  // namespace barracuda::cli
