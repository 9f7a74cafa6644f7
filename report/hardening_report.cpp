#include "report/hardening_report.h"

#include <iterator>

#include <fmt/format.h>

#include "report/coverage.h"
#include "report/findings_page.h"
#include "report/json_parts.h"
#include "report/json_writer.h"
#include "report/path_prefix.h"
#include "report/remarks.h"
#include "report/sentences.h"

namespace barracuda::report {
namespace {

constexpr const char* kRule = "==================\n";

using Buffer = std::back_insert_iterator<std::string>;

void print_rest(std::string& text, const MissingFence& fence) {
  if (!fence.kernel.empty()) {
    fmt::format_to(Buffer(text), "  Kernel: {}\n", fence.kernel);
  }
  if (fence.inlined.size() > 1) {
    fmt::format_to(Buffer(text), "  Inlined at: {}:{}\n", fence.inlined.back().file,
                   fence.inlined.back().line);
  }
}

void print_missing(std::string& text, const HardeningReport& report, const MissingFence& fence,
                   bool colour) {
  fmt::format_to(Buffer(text),
                 "{}{}BARRACUDA: ERROR: missing fence: {} behind {} ({}, scope {}){}\n", kRule,
                 colour ? "\033[1;31m" : "", fence.cuda, place_of(fence.place, fence.statement),
                 fence.kind, fence.scope, colour ? "\033[0m" : "");
  print_rest(text, fence);
  fmt::format_to(Buffer(text), "  Without it: {}\n{}{}",
                 report.failure.empty() ? "a run fails" : report.failure, see_line("missing-fence"),
                 kRule);
}

void print_redundant(std::string& text, const MissingFence& fence, bool colour) {
  fmt::format_to(Buffer(text),
                 "{}{}BARRACUDA: WARNING: redundant fence: no run needed {} at {}{}\n", kRule,
                 colour ? "\033[1;33m" : "", fence.cuda, place_of(fence.place, fence.statement),
                 colour ? "\033[0m" : "");
  print_rest(text, fence);
  text +=
      "  It may be needed all the same: for what no run has shown, or by the race detector's "
      "rules\n";
  text += see_line("redundant-fence") + kRule;
}

double percent_more(std::uint64_t value, std::uint64_t least) {
  constexpr double kPercent = 100;
  return least == 0 ? 0 : kPercent * (static_cast<double>(value) / static_cast<double>(least) - 1);
}

std::string energy_text(const FenceCost& cost, const FenceCost& least) {
  constexpr double kMillijoules = 1000;
  if (!cost.millijoules) {
    return "energy not measured" + (cost.no_energy.empty() ? "" : ": " + cost.no_energy);
  }
  return fmt::format("{:.3f} J", static_cast<double>(*cost.millijoules) / kMillijoules) +
         (least.millijoules
              ? fmt::format(" ({:+.1f} %)", percent_more(*cost.millijoules, *least.millijoules))
              : "");
}

// An emulated device has no time that would say what a fence costs on a GPU.
void print_costs(std::string& text, const std::vector<FenceCost>& costs) {
  constexpr double kMicroseconds = 1000;
  for (const FenceCost& cost : costs) {
    const FenceCost& least = costs.front();
    fmt::format_to(Buffer(text), "BARRACUDA: with fences: {}: ", cost.fences);
    if (cost.nanoseconds != 0) {
      fmt::format_to(Buffer(text), "kernels take {:.1f} us ({:+.1f} %), {}\n",
                     static_cast<double>(cost.nanoseconds) / kMicroseconds,
                     percent_more(cost.nanoseconds, least.nanoseconds), energy_text(cost, least));
    } else if (cost.warp_instructions != 0) {
      fmt::format_to(Buffer(text),
                     "{} warp instructions ({:+.1f} %), {} fences executed; time and energy not "
                     "measured\n",
                     cost.warp_instructions,
                     percent_more(cost.warp_instructions, least.warp_instructions),
                     cost.executed_fences);
    } else {
      text += "not measured\n";
    }
  }
}

Json costs_json(const std::vector<FenceCost>& costs) {
  Json lines = Json::array();
  for (const FenceCost& cost : costs) {
    const FenceCost& least = costs.front();
    Json line = {{"fences", cost.fences},
                 {"warp_instructions", cost.warp_instructions},
                 {"executed_fences", cost.executed_fences},
                 {"time_percent", nullptr},
                 {"energy_percent", nullptr}};
    if (cost.nanoseconds != 0) {
      line["nanoseconds"] = cost.nanoseconds;
      line["time_percent"] = percent_more(cost.nanoseconds, least.nanoseconds);
    }
    if (cost.millijoules) {
      line["millijoules"] = *cost.millijoules;
      if (least.millijoules) {
        line["energy_percent"] = percent_more(*cost.millijoules, *least.millijoules);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Json summary_json(const HardeningReport& report) {
  Json summary = Json::parse(json_summary(report.program));
  summary["weak_memory"] = {{"failures", report.failures_as_it_is},
                            {"missing_fences", report.missing.size()},
                            {"redundant_fences", report.redundant.size()},
                            {"starvations", 0},
                            {"runs", report.runs},
                            {"lost", report.lost},
                            {"incomplete", report.is_incomplete}};
  if (!report.environments.empty()) {
    summary["weak_memory"]["environments"] = report.environments;
  }
  if (!report.costs.empty()) {
    summary["weak_memory"]["costs"] = costs_json(report.costs);
  }
  return summary;
}

}  // namespace

std::string hardening_summary(const HardeningReport& report) {
  std::string text = "BARRACUDA SUMMARY: ";
  const std::string nothing = why_no_result(report.references, report.program.coverage);
  if (!nothing.empty()) {
    text += nothing;
  } else if (!report.no_result.empty()) {
    text += report.no_result;
  } else {
    text += fmt::format("{}, {} needed, {} redundant; {} tried",
                        counted(report.missing.size(), "missing fence"), report.needed.size(),
                        report.redundant.size(), counted(report.places, "place"));
    text += report.is_incomplete
                ? ", not shown stable"
                : fmt::format(", no failure in {}", counted(report.stable_runs, "run"));
  }
  return text + end_of_summary(report.lost, report.is_incomplete);
}

std::string hardening_text(const HardeningReport& report, const TextStyle& style) {
  std::string text;
  for (const MissingFence& fence : report.missing) {
    print_missing(text, report, fence, style.colour);
  }
  for (const MissingFence& fence : report.redundant) {
    print_redundant(text, fence, style.colour);
  }
  for (const MissingFence& fence : report.needed) {
    fmt::format_to(Buffer(text), "BARRACUDA: {} at {} is needed\n", fence.cuda,
                   place_of(fence.place, fence.statement));
  }
  if (report.weak_runs_as_it_is != 0) {
    fmt::format_to(Buffer(text), "BARRACUDA: as it is, the program fails in {} of {} weak runs\n",
                   report.failures_as_it_is, report.weak_runs_as_it_is);
  }
  for (const std::string& line : report.tables) {
    text += line + "\n";
  }
  print_costs(text, report.costs);
  text += remark_lines(report.program.blocked) + remark_lines(report.notes);
  if (report.no_result.empty()) {
    text +=
        "BARRACUDA: empirically fixed, not formally fixed: an unsound oracle, the runs, saw no "
        "failure\n";
  }
  text = without_prefix(text, style.prefix);
  // A name that is to be given again.
  if (!report.fences_file.empty()) {
    fmt::format_to(Buffer(text), "BARRACUDA: with these fences: barracuda run --fences {} -- …\n",
                   report.fences_file);
  }
  return text + hardening_summary(report) + "\n";
}

std::string hardening_json(const HardeningReport& report) {
  std::string text;
  for (const MissingFence& fence : report.missing) {
    text += one_line(fence_json(fence, "missing-fence", "error"));
  }
  for (const MissingFence& fence : report.redundant) {
    text += one_line(fence_json(fence, "redundant-fence", "warning"));
  }
  return text + one_line(summary_json(report));
}

}  // namespace barracuda::report
