#include "cli/litmus.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/driver_presence.h"
#include "base/file.h"
#include "cli/complain.h"
#include "cli/interruption.h"
#include "report/coverage.h"
#include "report/exit_status.h"
#include "report/json_writer.h"
#include "weak_memory/litmus_run.h"
#include "weak_memory/stress_parameters.h"

namespace barracuda::cli {
namespace {

using memory_model::LitmusTest;
using memory_model::Shown;
using weak_memory::Histogram;
using weak_memory::LitmusDevice;
using Json = nlohmann::ordered_json;

// The parameters that `tune` has left for this device, or those that are built in.
Expected<weak_memory::StressParameters> parameters_for(const LitmusDevice& device) {
  const std::string file = weak_memory::stress_file(device);
  const auto text = read_file(file);
  if (!text) {
    complain("this GPU and driver were not tuned (barracuda tune): with the stress of Hopper");
    return weak_memory::StressParameters();
  }
  return weak_memory::parse_stress_parameters(*text, file);
}

Expected<weak_memory::LitmusRunOptions> options_of(const LitmusCommand& command,
                                                   const LitmusDevice& device, bool is_gpu) {
  constexpr std::uint32_t kIterations = 1000, kLaunches = 100;
  constexpr std::uint32_t kEmulatedIterations = 50, kEmulatedLaunches = 20;
  weak_memory::LitmusRunOptions options{
      .iterations = command.iterations.value_or(is_gpu ? kIterations : kEmulatedIterations),
      .launches = command.launches.value_or(is_gpu ? kLaunches : kEmulatedLaunches),
      .seed = command.seed,
      .weak = !command.no_delays};
  if (is_gpu) {
    weak_memory::StressParameters parameters;
    if (command.stress == "tuned" || !command.distance) {
      TRY(parameters, parameters_for(device));
    }
    options.distance = parameters.distance;
    options.stress = parameters.stress;
    if (command.stress != "tuned") {
      options.stress = {.kind = *weak_memory::stress_kind(command.stress)};
    }
  }
  options.distance = command.distance.value_or(options.distance);
  return options;
}

// The outcomes that PTX allows; nothing where not all could be explored.
std::optional<std::set<Shown>> allowed_outcomes(const LitmusTest& test) {
  constexpr memory_model::Model kNewest = memory_model::Model::kPtx75;
  if (memory_model::not_in_model(test, kNewest)) {
    return std::nullopt;
  }
  const memory_model::Exploration found = memory_model::explore(test, kNewest, {});
  if (!found.is_complete()) {
    return std::nullopt;
  }
  std::set<Shown> allowed;
  for (const auto& [shown, outcome] : memory_model::shown_outcomes(test, found)) {
    allowed.insert(shown);
  }
  return allowed;
}

// Whether an end that shows this meets the test's condition: those that do are its witnesses.
bool meets(const LitmusTest& test, const Shown& shown) {
  const auto terms = memory_model::terms_shown(test);
  const auto first = memory_model::first_registers(test.program);
  memory_model::Final final{.registers = memory_model::initial_registers(test.program),
                            .memory = std::vector<std::uint64_t>(test.program.locations)};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].kind == memory_model::Term::Kind::kRegister) {
      final.registers[first[terms[i].thread] + terms[i].number] = shown[i];
    } else {
      final.memory[terms[i].number] = shown[i];
    }
  }
  return memory_model::holds(test.condition, first, final);
}

struct Seen {
  std::string file;
  LitmusTest test;
  Histogram histogram;
  std::optional<std::set<Shown>> allowed;

  [[nodiscard]] bool is_allowed(const Shown& shown) const {
    return !allowed || allowed->contains(shown);
  }

  [[nodiscard]] std::uint64_t forbidden() const {
    std::uint64_t count = 0;
    for (const auto& [shown, times] : histogram) {
      count += is_allowed(shown) ? 0 : times;
    }
    return count;
  }
};

// In the form of the litmus tools.
std::string histogram_text(const Seen& seen) {
  const auto terms = memory_model::terms_shown(seen.test);
  std::uint64_t positive = 0;
  std::uint64_t negative = 0;
  std::string lines;
  for (const auto& [shown, count] : seen.histogram) {
    const bool is_witness = meets(seen.test, shown);
    (is_witness ? positive : negative) += count;
    lines += fmt::format("{}{}>{}{}\n", count, is_witness ? "*" : ":",
                         memory_model::shown_text(seen.test, terms, shown),
                         !seen.allowed            ? ""
                         : seen.is_allowed(shown) ? "  (allowed)"
                                                  : "  (FORBIDDEN by PTX)");
  }
  const char* const how_often = positive == 0 ? "Never" : negative == 0 ? "Always" : "Sometimes";
  return fmt::format("Test {}\nHistogram ({} states)\n{}Condition {}\nObservation {} {} {} {}\n",
                     seen.test.name, seen.histogram.size(), lines,
                     memory_model::question_text(seen.test), seen.test.name, how_often, positive,
                     negative);
}

std::string json_line_of(const Seen& seen, const std::string& device) {
  const auto terms = memory_model::terms_shown(seen.test);
  Json outcomes = Json::array();
  bool is_met = false;
  bool is_always_met = true;
  for (const auto& [shown, count] : seen.histogram) {
    Json registers = Json::object();
    Json memory = Json::object();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Json& place = terms[i].kind == memory_model::Term::Kind::kRegister ? registers : memory;
      place[memory_model::term_text(seen.test, terms[i])] = static_cast<std::int64_t>(shown[i]);
    }
    is_met = is_met || meets(seen.test, shown);
    is_always_met = is_always_met && meets(seen.test, shown);
    outcomes.push_back({{"registers", registers},
                        {"memory", memory},
                        {"count", count},
                        {"allowed", seen.is_allowed(shown)}});
  }
  const bool holds = seen.test.quantifier == memory_model::Quantifier::kExists  ? is_met
                     : seen.test.quantifier == memory_model::Quantifier::kNever ? !is_met
                                                                                : is_always_met;
  const Json line = {{"schema", report::kJsonSchema},
                     {"type", "litmus-result"},
                     {"severity", nullptr},
                     {"test", seen.test.name},
                     {"file", seen.file},
                     {"device", device},
                     {"model", nullptr},
                     {"condition", memory_model::question_text(seen.test)},
                     {"verdict", holds ? "holds" : "does not hold"},
                     {"outcomes", std::move(outcomes)},
                     {"states", seen.histogram.size()},
                     {"complete", false},
                     {"witness", nullptr}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Expected<std::unique_ptr<LitmusDevice>> open_device(const LitmusCommand& command) {
  if (command.device == "gpu" || (command.device == "auto" && driver_is_present())) {
    return LitmusDevice::gpu();
  }
  return LitmusDevice::emulated();
}

// Those of one command.
class LitmusSession {
 public:
  LitmusSession(LitmusDevice& device, const weak_memory::LitmusRunOptions& options)
      : device_(device), options_(options) {}

  void take(const std::string& file) {
    auto test = read_file(file).and_then(
        [&](const std::string& text) { return memory_model::read_litmus(text, file); });
    if (!test) {
      refuse(test.error().to_string());
      return;
    }
    if (const std::string reason = weak_memory::why_not_run(*test); !reason.empty()) {
      refuse(fmt::format("{}: it {}, and is not run on a device; barracuda explore takes it", file,
                         reason));
      return;
    }
    auto histogram = device_.run(*test, options_, was_interrupted);
    if (!histogram) {
      complain(fmt::format("{}: {}", file, histogram.error().to_string()));
      ++failed_;
      return;
    }
    ++tests_;
    auto allowed = allowed_outcomes(*test);
    const Seen seen{.file = file,
                    .test = *std::move(test),
                    .histogram = *std::move(histogram),
                    .allowed = std::move(allowed)};
    for (const auto& [shown, count] : seen.histogram) {
      runs_ += count;
    }
    forbidden_ += seen.forbidden() != 0 ? 1 : 0;
    unknown_ += seen.allowed ? 0 : 1;
    std::fputs(histogram_text(seen).c_str(), stdout);
    json_ += json_line_of(seen, device_.name());
  }

  int end(const std::string& json_file) {
    std::string text = fmt::format("BARRACUDA SUMMARY: {} on {}, {} runs",
                                   report::counted(tests_, "test"), device_.name(), runs_);
    text += forbidden_ != 0 ? fmt::format(", {} with outcomes that PTX forbids", forbidden_)
                            : ", nothing that PTX forbids";
    text += unknown_ != 0 ? fmt::format(" ({} not explored)", unknown_) : "";
    text += refused_ != 0 ? fmt::format(", {} refused", refused_) : "";
    text += failed_ != 0 ? fmt::format(", {} failed", failed_) : "";
    text += was_interrupted() ? ", incomplete" : "";
    std::puts(text.c_str());
    if (!json_file.empty()) {
      if (auto written = write_file(json_file, json_); !written) {
        complain(written.error().to_string());
        return report::kStatusBadOption;
      }
    }
    return forbidden_ != 0                     ? report::kStatusFindings
           : refused_ != 0                     ? report::kStatusBadOption
           : failed_ != 0 || was_interrupted() ? report::kStatusNotChecked
                                               : 0;
  }

 private:
  void refuse(const std::string& reason) {
    complain(reason);
    ++refused_;
  }

  LitmusDevice& device_;
  const weak_memory::LitmusRunOptions& options_;
  std::size_t tests_ = 0, forbidden_ = 0, unknown_ = 0, refused_ = 0, failed_ = 0;
  std::uint64_t runs_ = 0;
  std::string json_;
};

}  // namespace

int litmus(const LitmusCommand& command) {
  auto device = open_device(command);
  if (!device) {
    complain("no GPU can be used: " + device.error().to_string() +
             " (--device cpu: the emulated device)");
    return report::kStatusNotChecked;
  }
  const bool is_gpu = !(*device)->driver_version().empty();
  if (!is_gpu && command.stress != "tuned" && command.stress != "none") {
    complain("--stress: on the emulated device there is no hardware to stress");
    return report::kStatusBadOption;
  }
  const auto options = options_of(command, **device, is_gpu);
  if (!options) {
    complain(options.error().to_string());
    return report::kStatusBadOption;
  }
  catch_interruptions();
  LitmusSession session(**device, *options);
  for (const std::string& file : command.files) {
    if (!was_interrupted()) {
      session.take(file);
    }
  }
  return session.end(command.json);
}

}  // namespace barracuda::cli
