#include "cli/replay.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/complain.h"
#include "cli/output_files.h"
#include "cli/slice_files.h"
#include "report/coverage.h"
#include "report/exit_status.h"
#include "report/merge.h"
#include "report/publish.h"
#include "report/resolve.h"
#include "trace/detector_options.h"
#include "trace/replay.h"
#include "weak_memory/race_slice.h"

namespace barracuda::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kMessageEvery{2};
constexpr int kInterrupted = report::status_of_signal(SIGINT);

std::atomic<bool> g_interrupted = false;

void on_interrupt(int /*signal*/) {
  g_interrupted = true;
}

// While it lives, Ctrl-C only sets the mark.
class InterruptWatch {
 public:
  InterruptWatch() {
    struct sigaction ours{};
    ours.sa_handler = on_interrupt;
    (void)sigemptyset(&ours.sa_mask);
    (void)sigaction(SIGINT, &ours, &previous_);
  }

  ~InterruptWatch() { (void)sigaction(SIGINT, &previous_, nullptr); }

  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  struct sigaction previous_{};
};

// Says how far it is when it takes its time.
class ProgressMessages {
 public:
  explicit ProgressMessages(std::size_t size) : size_(size) {}

  void at(std::uint64_t bytes) {
    percent_ = static_cast<int>(bytes * 100 / size_);
    if (steady_clock::now() - last_ >= kMessageEvery) {
      last_ = steady_clock::now();
      complain(fmt::format("replaying: {} %", percent_));
    }
  }

  [[nodiscard]] int percent() const { return percent_; }

 private:
  std::size_t size_;
  int percent_ = 0;
  steady_clock::time_point last_ = steady_clock::now();
};

struct ReplayOptions {
  Options options;
  std::optional<std::string> suppressions;  // of the recorded run, if they still hold
};

// Those of the recorded run, with what the command line changes. Files of the run's report are not
// written again.
Expected<ReplayOptions> choose_options(const ReplayCommand& command, trace::RunOptions recorded) {
  ReplayOptions chosen{.options = {}, .suppressions = std::move(recorded.suppressions)};
  if (auto parsed = parse_options(chosen.options, recorded.text); !parsed) {
    return unexpected({.message = "its options: " + parsed.error().message, .file = command.file});
  }
  for (std::string* const file : report_files(chosen.options)) {
    file->clear();
  }
  chosen.options.baseline.clear();
  chosen.options.update_baseline = false;
  const std::string recorded_model = chosen.options.model;
  for (const auto& [name, value] : command.options) {
    if (auto set = set_option(chosen.options, name, value); !set) {
      return unexpected(std::move(set).error());
    }
    if (name == "suppressions") {
      chosen.suppressions.reset();
    }
  }
  if (chosen.options.model == "paper" && recorded_model != "paper") {
    return unexpected({.message = "it was recorded with model=" + recorded_model +
                                  ", without the branches and the fences next to accesses that "
                                  "model=paper needs: record it with model=paper, which any model "
                                  "can replay",
                       .file = command.file});
  }
  return chosen;
}

report::Report make_report(const report::RunData& run, const ReplayOptions& chosen) {
  report::Report report = report::resolve(run, chosen.options);
  if (chosen.suppressions) {
    report::apply_filters(report, chosen.options, *chosen.suppressions);
  } else {
    report::apply_filters(report, chosen.options);
  }
  return report;
}

// As `run` makes one report of its processes'.
report::Report merge(const trace::Replayed& replayed, const ReplayOptions& chosen,
                     const std::vector<std::string>& damages) {
  std::vector<report::Report> reports;
  reports.reserve(replayed.processes.size());
  for (const trace::ReplayedProcess& process : replayed.processes) {
    reports.push_back(make_report(process.run, chosen));
  }
  report::Report all = report::merge(std::move(reports));
  all.coverage.gaps.insert(all.coverage.gaps.end(), damages.begin(), damages.end());
  if (all.model.empty()) {
    all.model = chosen.options.model;
  }
  if (replayed.program) {
    all.lost = replayed.program->lost;
    if (all.blocked.empty() && all.coverage.launches == 0) {
      all.blocked = replayed.program->blocked;
    }
  }
  return all;
}

// Recorded without `run`, of several processes none is the program.
int own_status(const trace::Replayed& replayed) {
  if (replayed.program) {
    return static_cast<int>(replayed.program->status);
  }
  return replayed.processes.size() == 1 ? replayed.processes.front().run.own_status
                                        : report::kUnknownStatus;
}

tl::unexpected<ReplayFailure> bad(Diagnostic problem, const std::string& file) {
  problem.file = file;
  return tl::unexpected(
      ReplayFailure{.status = report::kStatusBadOption, .message = problem.to_string()});
}

struct Recording {
  trace::Reader reader;
  ReplayOptions chosen;
};

tl::expected<Recording, ReplayFailure> open_recording(const ReplayCommand& command) {
  auto reader = trace::Reader::open(command.file);
  if (!reader) {
    return bad(reader.error(), command.file);
  }
  auto recorded = trace::recorded_options(*reader);
  if (!recorded) {
    return bad(recorded.error(), command.file);
  }
  auto chosen = choose_options(command, std::move(*recorded));
  if (!chosen) {
    return tl::unexpected(
        ReplayFailure{.status = report::kStatusBadOption, .message = chosen.error().to_string()});
  }
  return Recording{.reader = std::move(*reader), .chosen = std::move(*chosen)};
}

// The files that the replay is to write, before it takes its time.
int check_output(const ReplayOptions& chosen) {
  Options files = chosen.options;
  if (chosen.suppressions) {
    files.suppressions.clear();  // not on this machine, perhaps
  }
  for (const std::string* const pattern : report_files(files)) {
    if (const auto path = expand_file_name(*pattern); !path) {
      complain(path.error().to_string());
      return report::kStatusBadOption;
    }
  }
  return check_files(files);
}

tl::expected<report::Report, ReplayFailure> make_report(const Recording& recording,
                                                        const std::string& file) {
  ProgressMessages messages(recording.reader.size());
  const InterruptWatch watch;
  const auto replayed =
      trace::replay(recording.reader, trace::detector_options(recording.chosen.options),
                    [&messages](std::uint64_t bytes) {
                      messages.at(bytes);
                      return !g_interrupted;
                    });
  if (!replayed) {
    return bad(replayed.error(), file);
  }
  if (replayed->was_stopped) {
    return tl::unexpected(ReplayFailure{
        .status = kInterrupted,
        .message = fmt::format("interrupted at {} % of the trace: no report", messages.percent())});
  }
  report::Report report = merge(*replayed, recording.chosen, recording.reader.damages());
  report.own_status = own_status(*replayed);
  return report;
}

std::string slice_line(const weak_memory::RaceSlice& slice, const std::string& file) {
  return fmt::format("race of {}: {}", slice.lines.empty() ? "the host" : slice.lines,
                     slice.text.empty() ? "not sliced: " + slice.why_not
                     : slice.is_shown   ? file + ": the PTX model shows it"
                                        : file + ": its slice does not show it: " + slice.why_not);
}

// Of each race, with a sentence about it.
Expected<void> write_slices(const ReplayCommand& command, const Options& options) {
  TRY(const auto slices, weak_memory::slice_races(command.file, trace::detector_options(options)));
  const SliceFiles files(command.litmus);
  std::size_t sliced = 0, shown = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (auto written = files.write(i + 1, "", slices[i].text); !written) {
      return written;
    }
    sliced += slices[i].text.empty() ? 0 : 1;
    shown += slices[i].is_shown ? 1 : 0;
    complain(slice_line(slices[i], files.name(i + 1, "")));
  }
  complain(fmt::format("{}, {} sliced, {} shown by the PTX model",
                       report::counted(slices.size(), "race"), sliced, shown));
  return {};
}

}  // namespace

tl::expected<report::Report, ReplayFailure> replayed_report(const std::string& file) {
  const auto recording = open_recording({.file = file, .options = {}});
  if (!recording) {
    return tl::unexpected(recording.error());
  }
  return make_report(*recording, file);
}

int replay(const ReplayCommand& command) {
  const auto recording = open_recording(command);
  if (!recording) {
    complain(recording.error().message);
    return recording.error().status;
  }
  if (const int status = check_output(recording->chosen); status != 0) {
    return status;
  }
  auto report = make_report(*recording, command.file);
  if (!report) {
    complain(report.error().message);
    return report.error().status;
  }
  if (!command.litmus.empty()) {
    if (const auto written = write_slices(command, recording->chosen.options); !written) {
      complain(written.error().to_string());
      return report::kStatusBadOption;
    }
  }
  const int own = report->own_status;
  const int status = report::publish(std::move(*report), recording->chosen.options, own);
  return status == report::kUnknownStatus ? 0 : status;
}

}  // namespace barracuda::cli
