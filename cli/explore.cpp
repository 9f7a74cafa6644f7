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
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text_lines.h"
#include "cli/complain.h"
#include "cli/interruption.h"
#include "cli/kernel_source.h"
#include "cli/status_line.h"
#include "report/coverage.h"
#include "report/exit_status.h"
#include "report/json_writer.h"
#include "weak_memory/litmus.h"

namespace barracuda::cli {
namespace {

using memory_model::Exploration;
using memory_model::LitmusTest;
using memory_model::Model;
using memory_model::Quantifier;
using memory_model::Witness;

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

struct Result {
  std::string file;
  LitmusTest test;
  Model model = Model::kPtx75;
  Exploration found;
  bool asks_of_end = false;   // the question is whether the program always ends
  std::string kernel;         // what is said of a kernel's threads; empty: no kernel
  bool asks_of_race = false;  // the question is whether there is a data race

  [[nodiscard]] const std::pair<const memory_model::Final, Witness>* deciding() const {
    return memory_model::deciding_final(test, found);
  }

  // A final that decides does so even where a bound ended the search.
  [[nodiscard]] bool is_decided() const {
    return found.is_complete() || found.violation ||
           (asks_of_race ? found.race.has_value() : deciding() != nullptr);
  }

  [[nodiscard]] bool holds() const {
    return asks_of_end    ? !found.violation
           : asks_of_race ? found.race.has_value()
                          : memory_model::condition_holds(test, found);
  }

  [[nodiscard]] std::string question() const {
    return asks_of_end    ? "always ends"
           : asks_of_race ? "data race"
                          : memory_model::question_text(test);
  }

  [[nodiscard]] const Witness* witness() const {
    if (found.violation) {
      return &*found.violation;
    }
    if (asks_of_race) {
      return found.race ? &*found.race : nullptr;
    }
    return deciding() == nullptr ? nullptr : &deciding()->second;
  }

  [[nodiscard]] std::string verdict() const {
    return !is_decided() ? "unknown" : holds() ? "holds" : "does not hold";
  }
};

std::string answer_text(const Result& result) {
  if (result.asks_of_end) {
    return result.found.violation       ? "no, it may go on for ever"
           : result.found.is_complete() ? "yes"
                                        : "no other execution found within " + result.found.bound;
  }
  if (result.found.violation) {
    return "violated";
  }
  if (result.deciding() != nullptr) {
    return result.test.quantifier == Quantifier::kForall ? "not always" : "reachable";
  }
  if (!result.found.is_complete()) {
    return "not found within " + result.found.bound;
  }
  return result.test.quantifier == Quantifier::kForall ? "always" : "not reachable";
}

// Which axiom has ended most, where executions were sought and none was there.
std::string reason_text(const Result& result) {
  if (memory_model::has_states(result.model) || result.witness() != nullptr) {
    return "";
  }
  const auto most = std::ranges::max_element(result.found.killed);
  if (*most == 0) {
    return "";
  }
  const auto axiom = static_cast<memory_model::Axiom>(most - result.found.killed.begin());
  return fmt::format("  of the candidates that an axiom forbids, most: {} ({})\n",
                     memory_model::name_of(axiom), *most);
}

std::string race_text(const Result& result) {
  if (result.found.race) {
    return "  data race: reachable: " + result.found.race->lines.front() + '\n';
  }
  return fmt::format("  data race: {}\n", result.found.is_complete()
                                              ? "not reachable"
                                              : "not found within " + result.found.bound);
}

std::string result_text(const Result& result, bool looks_for_races) {
  const auto outcomes = memory_model::shown_outcomes(result.test, result.found);
  const auto terms = memory_model::terms_shown(result.test);
  const std::string how_many =
      result.asks_of_end ? "" : report::counted(outcomes.size(), "outcome") + ", ";
  std::string text =
      fmt::format("{}: model {}, {}{} {}\n", result.file, memory_model::name_of(result.model),
                  how_many, result.found.states,
                  memory_model::has_states(result.model) ? "states" : "candidate executions");
  for (const std::string& name : result.test.undeclared) {
    text += fmt::format("  '{}' is not declared: a location that begins as 0\n", name);
  }
  text += result.kernel;
  const bool marks = result.test.quantifier != Quantifier::kForall;
  for (const auto& [shown, outcome] : outcomes) {
    if (result.asks_of_race) {
      break;  // how it ends was not asked
    }
    text += fmt::format("{} {}\n", outcome.meets_condition == marks ? '*' : ' ',
                        memory_model::shown_text(result.test, terms, shown));
  }
  text += looks_for_races ? race_text(result) : "";
  if (!result.asks_of_race) {
    text += fmt::format("  {}: {}\n", result.question(), answer_text(result));
  }
  if (result.test.always) {
    text += fmt::format("  always {}: {}\n",
                        memory_model::condition_text(result.test, *result.test.always),
                        result.found.violation ? "violated" : "kept");
  }
  text += reason_text(result);
  if (const Witness* const witness = result.witness()) {
    text += "  witness:\n";
    for (const std::string& line : witness->lines) {
      text += "    " + line + '\n';
    }
  }
  if (!result.found.is_complete()) {
    text += fmt::format("  incomplete: the search ended at {}\n", result.found.bound);
  }
  return text;
}

using Json = nlohmann::ordered_json;

Json value_json(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

std::string json_line_of(const Result& result) {
  const auto terms = memory_model::terms_shown(result.test);
  Json outcomes = Json::array();
  for (const auto& [shown, outcome] : memory_model::shown_outcomes(result.test, result.found)) {
    Json registers = Json::object();
    Json memory = Json::object();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Json& place = terms[i].kind == memory_model::Term::Kind::kRegister ? registers : memory;
      place[memory_model::term_text(result.test, terms[i])] = value_json(shown[i]);
    }
    outcomes.push_back(
        {{"registers", registers}, {"memory", memory}, {"count", nullptr}, {"allowed", true}});
  }
  Json witness = nullptr;
  if (const Witness* const lines = result.witness()) {
    witness = lines->lines;
  }
  const Json line = {{"schema", report::kJsonSchema},
                     {"type", "litmus-result"},
                     {"severity", nullptr},
                     {"test", result.test.name},
                     {"file", result.file},
                     {"device", nullptr},
                     {"model", std::string(memory_model::name_of(result.model))},
                     {"condition", result.question()},
                     {"verdict", result.verdict()},
                     {"outcomes", std::move(outcomes)},
                     {"states", result.found.states},
                     {"complete", result.found.is_complete()},
                     {"witness", std::move(witness)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

class Session {
 public:
  Session(const ExploreCommand& command, Expectations expected)
      : command_(command), expected_(std::move(expected)) {
    options_.states = command.states;
    options_.seconds = command.seconds;
    options_.memory_mib = command.memory_mib;
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
    const bool asks_of_race = command_.kernel.races && !options_.progress;
    if (asks_of_race && refuse_races(file, models)) {
      return;
    }
    options_.races = asks_of_race;
    explore_all({.file = file,
                 .test = *test,
                 .asks_of_end = options_.progress,
                 .asks_of_race = asks_of_race},
                models);
  }

  int end() {
    std::string text = "BARRACUDA SUMMARY: " + report::counted(tests_, "test");
    const auto add = [&](std::size_t number, std::string_view what) {
      text += number == 0 ? "" : fmt::format(", {} {}", number, what);
    };
    if (tests_ == 1 && held_ + failed_ == 1) {
      text += held_ == 1 ? ", condition holds" : ", condition does not hold";
    } else {
      add(held_, "verdicts hold");
      add(failed_, "do not hold");
    }
    add(differing_, "differ from what is expected");
    add(refused_, "refused");
    add(left_out_, "not explored");
    text += tests_ == 0        ? ""
            : incomplete_ == 0 ? ", exploration complete"
                               : ", " + report::counted(incomplete_, "exploration") + " incomplete";
    std::puts(text.c_str());
    if (!write(command_.json, json_) || !write(command_.dot, dot_)) {
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
  bool refuse_races(const std::string& file, const std::vector<Model>& models) {
    if (std::ranges::none_of(models, memory_model::has_states)) {
      return false;
    }
    refuse({.message = "data races are asked of the ptx models only; --exists or --final can be "
                       "asked of all",
            .file = file});
    return true;
  }

  void take_kernel(const std::string& file, const std::vector<Model>& models) {
    const ExploredKernel& asked = command_.kernel;
    auto reading = read_explored_kernel(file, asked, command_.unroll);
    if (!reading) {
      refuse(reading.error());
      return;
    }
    const bool asks_of_race = asked.exists.empty() && !asked.shows_all;
    options_.races = asked.races || asks_of_race;
    if (options_.races && refuse_races(file, models)) {
      return;
    }
    if (reading->has_uneven_barriers && std::ranges::any_of(models, memory_model::has_states)) {
      refuse(
          {.message = "threads of a block pass different barriers; only the ptx models take that",
           .file = file});
      return;
    }
    kernel_bound_ = reading->bound;
    const std::string text = kernel_text(*reading);
    explore_all({.file = file,
                 .test = std::move(reading->test),
                 .kernel = text,
                 .asks_of_race = asks_of_race},
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

  void explore_all(const Result& asked, const std::vector<Model>& models) {
    std::vector<Result> results;
    for (const Model model : models) {
      if (auto missing = memory_model::not_in_model(asked.test, model)) {
        missing->file = asked.file;
        refuse(*missing);
        continue;
      }
      Result result = asked;
      result.model = model;
      at_work_on_ = fmt::format("{}: model {}", asked.file, memory_model::name_of(model));
      line_ = StatusLine();
      result.found = memory_model::explore(asked.test, model, options_);
      line_.end();
      if (result.found.bound.empty()) {
        result.found.bound = kernel_bound_;
      }
      results.push_back(std::move(result));
    }
    if (!results.empty()) {
      ++tests_;
      models.size() > 1 ? print_comparison(asked.test, models, results) : print(results.front());
    }
    for (const Result& result : results) {
      judge(result);
    }
  }

  void refuse(const Diagnostic& problem) {
    complain(problem.to_string());
    ++refused_;
  }

  void print(const Result& result) const {
    std::fputs(result_text(result, options_.races).c_str(), stdout);
  }

  static void print_comparison(const LitmusTest& test, const std::vector<Model>& models,
                               const std::vector<Result>& results) {
    std::vector<memory_model::NamedExploration> columns;
    for (const Model model : models) {
      const auto found = std::ranges::find(results, model, &Result::model);
      columns.push_back({.model = std::string(memory_model::name_of(model)),
                         .found = found == results.end() ? nullptr : &found->found});
    }
    std::string text = results.front().file + ": " + results.front().question() + '\n';
    text += results.front().asks_of_end ? "" : memory_model::comparison_text(test, columns);
    for (const Result& result : results) {
      text += fmt::format("  {}: {}\n", memory_model::name_of(result.model),
                          result.asks_of_race ? race_text(result) : answer_text(result));
    }
    std::fputs(text.c_str(), stdout);
  }

  void judge(const Result& result) {
    json_ += json_line_of(result);
    dot_ += result.witness() != nullptr ? result.witness()->dot : "";
    incomplete_ += result.found.is_complete() ? 0 : 1;
    if (!result.is_decided()) {
      return;
    }
    (result.holds() ? held_ : failed_) += 1;
    if (const auto expected = expected_of(expected_, result.file);
        expected && *expected != result.holds()) {
      ++differing_;
      std::fputs(fmt::format("  expected: {}\n", *expected ? "holds" : "does not hold").c_str(),
                 stdout);
    }
  }

  static bool write(const std::string& file, const std::string& text) {
    if (file.empty()) {
      return true;
    }
    const auto written = write_file(file, text);
    if (!written) {
      complain(written.error().to_string());
    }
    return written.has_value();
  }

  const ExploreCommand& command_;
  Expectations expected_;
  memory_model::ExploreOptions options_;
  std::size_t tests_ = 0, held_ = 0, failed_ = 0, differing_ = 0, refused_ = 0, incomplete_ = 0,
              left_out_ = 0;
  std::string json_, dot_;
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
    names.push_back(command.model);
  }
  std::vector<Model> models;
  for (const std::string& name : names) {
    TRY(const Model model, model_of(command, name));
    models.push_back(model);
  }
  return models;
}

}  // namespace

int explore(const ExploreCommand& command) {
  const auto models = models_of(command);
  if (!models) {
    complain(models.error().to_string());
    return report::kStatusBadOption;
  }
  auto expected = read_expectations(command.expect);
  if (!expected) {
    complain(expected.error().to_string());
    return report::kStatusBadOption;
  }
  Session session(command, *std::move(expected));
  catch_interruptions();
  for (const std::string& file : command.files) {
    was_interrupted() ? session.leave_out() : session.take(file, *models);
  }
  return session.end();
}

}  // namespace barracuda::cli
