#include "cli/explore.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text_lines.h"
#include "cli/complain.h"
#include "cli/explore_result.h"
#include "cli/interruption.h"
#include "cli/kernel_source.h"
#include "cli/status_line.h"
#include "cli/witness_graphs.h"
#include "report/coverage.h"
#include "report/exit_status.h"
#include "weak_memory/litmus.h"

namespace barracuda::cli {
namespace {

using memory_model::Model;

// Verdicts that are expected, by file; one of the empty name is everyone's.
using Expectations = std::map<std::string, bool>;

Expected<Expectations> read_expectations(const std::string& given) {
  if (given.empty()) {
    return Expectations();
  }
  if (given == "0" || given == "1") {
    return Expectations{{"", given == "1"}};
  }
  const auto text = read_file(given);
  if (!text) {
    return unexpected({.message = fmt::format("--expect={}: 0, 1 or a file of lines FILE,0|1 is "
                                              "expected; {}",
                                              given, text.error().to_string())});
  }
  Expectations expected;
  TextLines lines(*text);
  while (const auto next = lines.next()) {
    std::string line(*next);
    std::erase(line, '\r');
    if (line.empty()) {
      continue;
    }
    const std::size_t comma = line.rfind(',');
    const std::string verdict = comma == std::string::npos ? "" : line.substr(comma + 1);
    if (verdict != "0" && verdict != "1") {
      return unexpected({.message = "a line 'FILE,0' or 'FILE,1' is expected here",
                         .file = given,
                         .line = lines.number()});
    }
    expected[line.substr(0, comma)] = verdict == "1";
  }
  return expected;
}

// The rows of a list are paths from some folder: the end of the path decides.
std::optional<bool> expected_of(const Expectations& expected, const std::string& file) {
  for (const auto& [path, verdict] : expected) {
    if (path.empty() || file == path || file.ends_with("/" + path) || path.ends_with("/" + file)) {
      return verdict;
    }
  }
  return std::nullopt;
}

class Session {
 public:
  Session(const ExploreCommand& command, Expectations expected)
      : command_(command), expected_(std::move(expected)), graphs_(command.dot, command.svg) {
    options_.states = command.states;
    options_.seconds = command.seconds;
    options_.memory_mib = command.memory_mib.value_or(options_.memory_mib);
    options_.unroll = command.unroll;
    options_.exact = command.exact;
    options_.symmetry = command.symmetry;
    options_.shortest = command.shortest;
    options_.lockstep = command.lockstep;
    options_.progress = command.progress;
    options_.stops = [this] {
      line_.tell([this] {
        return fmt::format("{}, {} s of at most {}", at_work_on_, line_.age().count(),
                           command_.seconds);
      });
      return was_interrupted();
    };
  }

  // Before a search of hours, what will be written is begun.
  [[nodiscard]] Expected<void> begin() const {
    if (auto begun = write_if_named(command_.json, ""); !begun) {
      return begun;
    }
    return graphs_.begin();
  }

  // Of one file under all models that were asked for.
  void take(const std::string& file, const std::vector<Model>& models) {
    if (has_kernels(file)) {
      take_kernel(file, models);
      return;
    }
    const auto test = read_file(file).and_then([&](const std::string& text) {
      return memory_model::read_litmus(
          text, file, command_.dat3m ? memory_model::Dialect::kDat3m : memory_model::Dialect::kOwn);
    });
    if (!test) {
      refuse(test.error());
      return;
    }
    if (const std::string flag = first_kernel_flag(command_.kernel); !flag.empty()) {
      refuse({.message = flag + " is of kernels, and this is a litmus test; leave it out",
              .file = file});
      return;
    }
    options_.races = command_.kernel.races;
    if (options_.races &&
        refuse_races(file, models, "without --races its own condition is asked")) {
      return;
    }
    explore_all({.file = file,
                 .test = *test,
                 .asked = options_.progress ? ExploreQuestion::kEnd
                          : options_.races  ? ExploreQuestion::kRace
                                            : ExploreQuestion::kCondition},
                models);
  }

  int end() {
    std::string text = "BARRACUDA SUMMARY: " + report::counted(tests_, "test");
    const auto add = [&](std::size_t number, std::string_view one, std::string_view several) {
      text += number == 0 ? "" : fmt::format(", {} {}", number, number == 1 ? one : several);
    };
    if (tests_ == 1 && held_ + failed_ == 1) {
      text += held_ == 1 ? ", condition holds" : ", condition does not hold";
    } else {
      add(held_, "verdict holds", "verdicts hold");
      add(failed_, "does not hold", "do not hold");
    }
    add(differing_, "differs from what is expected", "differ from what is expected");
    add(not_listed_, "has no expected verdict", "have no expected verdict");
    add(refused_, "refused", "refused");
    add(left_out_, "not explored", "not explored");
    text += tests_ == 0        ? ""
            : incomplete_ == 0 ? ", exploration complete"
                               : ", " + report::counted(incomplete_, "exploration") + " incomplete";
    std::puts(text.c_str());
    const auto written = write();
    if (!written) {
      complain(written.error().to_string());
      return report::kStatusBadOption;
    }
    return refused_ != 0                  ? report::kStatusBadOption
           : differing_ != 0              ? report::kStatusFindings
           : incomplete_ + left_out_ != 0 ? report::kStatusNotChecked
                                          : 0;
  }

  // A file for which an interruption left no time.
  void leave_out() { ++left_out_; }

 private:
  // Models with states have none; says so.
  bool refuse_races(const std::string& file, const std::vector<Model>& models,
                    std::string_view advice) {
    if (std::ranges::none_of(models, memory_model::has_states)) {
      return false;
    }
    refuse({.message = fmt::format("data races are asked of the ptx models only; {}", advice),
            .file = file});
    return true;
  }

  void take_kernel(const std::string& file, const std::vector<Model>& models) {
    const ExploredKernel& asked = command_.kernel;
    const ExploreQuestion question = options_.progress       ? ExploreQuestion::kEnd
                                     : !asked.exists.empty() ? ExploreQuestion::kCondition
                                     : asked.shows_all       ? ExploreQuestion::kFinals
                                                             : ExploreQuestion::kRace;
    options_.races = asked.races || question == ExploreQuestion::kRace;
    if (options_.races &&
        refuse_races(file, models, "--exists or --final can be asked of sc and device as well")) {
      return;
    }
    begin_work(file + ": reading the kernel");
    auto reading = read_explored_kernel(file, asked, options_);
    line_.end();
    if (was_interrupted()) {
      leave_out();
      return;
    }
    if (!reading) {
      refuse(reading.error());
      return;
    }
    if (reading->is_useless) {
      complain(
          fmt::format("{}: the ways of its threads were not all found within {}; a smaller "
                      "launch, --threads, a smaller --unroll or a higher --time is needed",
                      file, reading->bound));
      leave_out();
      return;
    }
    if (reading->has_uneven_barriers &&
        (options_.progress || std::ranges::any_of(models, memory_model::has_states))) {
      refuse({.message = "threads of a block pass different barriers; only the ptx models take "
                         "that, and without --progress",
              .file = file});
      return;
    }
    kernel_bound_ = reading->bound;
    const std::string text = kernel_text(*reading);
    explore_all({.file = file, .test = std::move(reading->test), .asked = question, .kernel = text},
                models);
    kernel_bound_.clear();
  }

  [[nodiscard]] std::string kernel_text(const memory_model::KernelReading& reading) const {
    std::string text = fmt::format("  {}: {}", reading.test.name,
                                   report::counted(reading.test.program.threads.size(), "thread"));
    if (reading.threads_left_out != 0) {
      text += fmt::format("; {} more touch nothing that others see", reading.threads_left_out);
    }
    if (!command_.kernel.threads.empty()) {
      text += "; others of the launch are left out (--threads)";
    }
    text += '\n';
    for (const std::uint32_t line : reading.promoted) {
      text += fmt::format("  line {}: a plain flag with a fence is taken as relaxed\n", line);
    }
    return text;
  }

  void explore_all(const ExploreResult& asked, const std::vector<Model>& models) {
    std::vector<ExploreResult> results;
    for (const Model model : models) {
      if (auto missing = memory_model::not_in_model(asked.test, model)) {
        missing->file = asked.file;
        refuse(*missing);
        continue;
      }
      ExploreResult result = asked;
      result.model = model;
      begin_work(fmt::format("{}: model {}", asked.file, memory_model::name_of(model)));
      result.found = memory_model::explore(asked.test, model, options_);
      line_.end();
      if (result.found.bound.empty()) {
        result.found.bound = kernel_bound_;
      }
      results.push_back(std::move(result));
    }
    if (!results.empty()) {
      ++tests_;
      const std::string text = models.size() > 1 ? results_text(models, results)
                                                 : result_text(results.front(), options_.races);
      std::fputs(text.c_str(), stdout);
    }
    for (const ExploreResult& result : results) {
      judge(result);
    }
  }

  void refuse(const Diagnostic& problem) {
    complain(problem.to_string());
    ++refused_;
  }

  void begin_work(std::string on) {
    at_work_on_ = std::move(on);
    line_ = StatusLine();
  }

  void judge(const ExploreResult& result) {
    json_ += json_line_of(result);
    graphs_.add(result);
    incomplete_ += result.found.is_complete() ? 0 : 1;
    const auto expected = expected_of(expected_, result.file);
    not_listed_ += expected_.empty() || expected ? 0 : 1;
    if (!result.is_decided()) {
      return;
    }
    if (result.asked != ExploreQuestion::kFinals) {  // which has no condition
      (result.holds() ? held_ : failed_) += 1;
    }
    if (expected && *expected != result.holds()) {
      ++differing_;
      std::fputs(fmt::format("  expected: {}\n", *expected ? "holds" : "does not hold").c_str(),
                 stdout);
    }
  }

  [[nodiscard]] Expected<void> write() const {
    if (auto written = write_if_named(command_.json, json_); !written) {
      return written;
    }
    return graphs_.write();
  }

  const ExploreCommand& command_;
  Expectations expected_;
  memory_model::ExploreOptions options_;
  std::size_t tests_ = 0, held_ = 0, failed_ = 0, differing_ = 0, not_listed_ = 0, refused_ = 0,
              incomplete_ = 0, left_out_ = 0;
  std::string json_;
  WitnessGraphs graphs_;
  std::string kernel_bound_;  // that was hit when the kernel was read
  StatusLine line_;
  std::string at_work_on_;
};

Expected<Model> model_of(const ExploreCommand& command, const std::string& name) {
  const auto model = memory_model::model_named(name);
  if (!model) {
    return unexpected({.message = fmt::format("there is no model '{}'; there are {}, and ptx, "
                                              "the newest",
                                              name, memory_model::kModelNames)});
  }
  if (command.lockstep && !memory_model::has_lockstep(*model)) {
    return unexpected(
        {.message = fmt::format("model {} has no lock step; with --lockstep ask sc, weak or strong",
                                memory_model::name_of(*model))});
  }
  if (command.progress && !memory_model::has_progress(*model)) {
    return unexpected(
        {.message = fmt::format("whether a program always ends is not asked of model {}; with "
                                "--progress ask ptx-6.0 or ptx-7.5",
                                memory_model::name_of(*model))});
  }
  return *model;
}

Expected<std::vector<Model>> models_of(const ExploreCommand& command) {
  std::vector<std::string> names = command.compare;
  if (names.empty()) {
    names.push_back(command.model.empty() ? "ptx" : command.model);
  }
  std::vector<Model> models;
  for (const std::string& name : names) {
    TRY(const Model model, model_of(command, name));
    models.push_back(model);
  }
  return models;
}

// Flags that would do nothing beside the others.
Expected<void> check_flags(const ExploreCommand& command, const std::vector<Model>& models) {
  if (!command.compare.empty() && !command.model.empty()) {
    return unexpected({.message = "--memory-model and --compare were both given; name all models "
                                  "behind --compare"});
  }
  const ExploredKernel& kernel = command.kernel;
  if (command.progress && (!kernel.exists.empty() || kernel.shows_all || kernel.races)) {
    return unexpected({.message = "--progress asks nothing but whether the program always ends; "
                                  "ask --exists, --final or --races in another run"});
  }
  const std::string_view of_states = command.symmetry     ? "--symmetry"
                                     : command.shortest   ? "--shortest"
                                     : command.exact      ? "--exact"
                                     : command.memory_mib ? "--memory"
                                                          : "";
  if (!of_states.empty() && std::ranges::none_of(models, memory_model::has_states)) {
    return unexpected({.message = fmt::format("{} is of models with states; leave it out, or ask "
                                              "sc, weak, strong or device",
                                              of_states)});
  }
  return {};
}

// A list none of whose rows is of a test is another's, or has a misspelt name.
Expected<void> check_expectations(const ExploreCommand& command, const Expectations& expected) {
  if (expected.empty() || std::ranges::any_of(command.files, [&](const std::string& file) {
        return expected_of(expected, file).has_value();
      })) {
    return {};
  }
  return unexpected({.message = "no row of this list names a test that is explored; a row is "
                                "PATH,0 or PATH,1 with the end of the test's path",
                     .file = command.expect});
}

Expected<int> explore_files(const ExploreCommand& command) {
  TRY(const auto models, models_of(command));
  if (auto checked = check_flags(command, models); !checked) {
    return unexpected(std::move(checked).error());
  }
  TRY(Expectations expected, read_expectations(command.expect));
  if (auto checked = check_expectations(command, expected); !checked) {
    return unexpected(std::move(checked).error());
  }
  Session session(command, std::move(expected));
  if (auto begun = session.begin(); !begun) {
    return unexpected(std::move(begun).error());
  }
  catch_interruptions();
  for (const std::string& file : command.files) {
    was_interrupted() ? session.leave_out() : session.take(file, models);
  }
  return session.end();
}

}  // namespace

int explore(const ExploreCommand& command) {
  const auto status = explore_files(command);
  if (!status) {
    complain(status.error().to_string());
    return report::kStatusBadOption;
  }
  return *status;
}

}  // namespace barracuda::cli
