#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/complain.h"
#include "cli/interruption.h"
#include "cli/litmus.h"
#include "report/exit_status.h"
#include "weak_memory/stress_parameters.h"

namespace barracuda::cli {
namespace {

using weak_memory::StressPoint;
using weak_memory::Tuning;

std::string stress_text(const stress::StressShape& shape) {
  using stress::StressKind;
  if (shape.kind == StressKind::kNone) {
    return "none";
  }
  std::string text = fmt::format("{}, {} threads, {} words", weak_memory::name_of(shape.kind),
                                 shape.threads, shape.words);
  if (shape.kind == StressKind::kSystematic) {
    text += fmt::format(", {} on {} patches of {}", weak_memory::sequence_text(shape), shape.spread,
                        shape.patch);
  }
  return text;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  constexpr double kPercent = 100;
  return whole == 0 ? 0 : kPercent * static_cast<double>(part) / static_cast<double>(whole);
}

void print(const char* title, const std::vector<StressPoint>& points) {
  std::string text =
      fmt::format("{}\n| distance | stress | MP % | LB % | SB % |\n|---|---|---|---|---|\n", title);
  for (const StressPoint& point : points) {
    text += fmt::format("| {} | {} | {:.2f} | {:.2f} | {:.2f} |\n", point.distance,
                        stress_text(point.stress), percent(point.weak[0], point.runs),
                        percent(point.weak[1], point.runs), percent(point.weak[2], point.runs));
  }
  std::fputs(text.c_str(), stdout);
}

std::string csv_of(const Tuning& tuning) {
  std::string text = "distance,stress,threads,words,patch,spread,sequence,runs,mp,lb,sb\n";
  for (const auto* const points :
       {&tuning.distances, &tuning.kinds, &tuning.sequences, &tuning.spreads}) {
    for (const StressPoint& point : *points) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", point.distance,
                          weak_memory::name_of(point.stress.kind), point.stress.threads,
                          point.stress.words, point.stress.patch, point.stress.spread,
                          weak_memory::sequence_text(point.stress), point.runs, point.weak[0],
                          point.weak[1], point.weak[2]);
    }
  }
  return text;
}

Expected<void> write(const std::string& file, const std::string& text) {
  std::error_code error;  // who writes reports that there is no folder
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  return write_file(file, text);
}

}  // namespace

int tune(const TuneCommand& command) {
  auto device = weak_memory::LitmusDevice::gpu();
  if (!device) {
    complain("no GPU can be used: " + device.error().to_string());
    return report::kStatusNotChecked;
  }
  constexpr std::uint32_t kFullLaunches = 100, kFullSequence = 5;
  weak_memory::TuneOptions options{.seed = command.seed};
  if (command.full) {
    options.launches = kFullLaunches;
    options.longest_sequence = kFullSequence;
  }
  catch_interruptions();
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    return was_interrupted() ||
           std::chrono::steady_clock::now() - start >= std::chrono::seconds(command.time);
  };
  complain(fmt::format("tuning {}: at most {} s", (*device)->name(), command.time));
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  const auto tuning =
      weak_memory::tune(**device, options, is_over, [is_terminal](const std::string& what) {
        if (is_terminal) {
          std::fputs(("\r\033[K" + what).c_str(), stderr);
        }
      });
  if (is_terminal) {
    std::fputs("\r\033[K", stderr);
  }
  if (!tuning) {
    complain(tuning.error().to_string());
    return report::kStatusNotChecked;
  }
  print("Distance of the two locations, in words", tuning->distances);
  print("Kinds of stress", tuning->kinds);
  print("Sequences of systematic stress", tuning->sequences);
  print("Spread of systematic stress", tuning->spreads);
  const std::string file = command.out.empty() ? weak_memory::stress_file(**device) : command.out;
  for (const auto& [name, text] :
       {std::pair(file, to_string(tuning->best)), std::pair(command.csv, csv_of(*tuning))}) {
    if (!name.empty()) {
      if (auto written = write(name, text); !written) {
        complain(written.error().to_string());
        return report::kStatusBadOption;
      }
    }
  }
  std::puts(fmt::format("BARRACUDA SUMMARY: {}: {}; patch of {} words{}, kept in {}",
                        (*device)->name(),
                        tuning->shows_weak_behaviour ? stress_text(tuning->best.stress)
                                                     : "no weak behaviour under any stress tried",
                        tuning->best.distance, tuning->is_incomplete ? ", incomplete" : "", file)
                .c_str());
  return tuning->is_incomplete ? report::kStatusNotChecked : 0;
}

}  // namespace barracuda::cli
