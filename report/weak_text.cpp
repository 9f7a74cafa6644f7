#include "report/weak_text.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "report/coverage.h"
#include "report/findings_page.h"
#include "report/path_prefix.h"
#include "report/remarks.h"
#include "report/sentences.h"

namespace barracuda::report {
namespace {

constexpr const char* kRule = "==================\n";
constexpr std::size_t kMostAccesses = 4;

using Buffer = std::back_insert_iterator<std::string>;

std::string triple(const Coordinates& at) {
  return fmt::format("[{},{},{}]", at[0], at[1], at[2]);
}

std::string by_whom(const Access& access) {
  return access.has_thread
             ? fmt::format(" by thread {} of block {}", triple(access.thread), triple(access.block))
             : std::string();
}

void print_frame(std::string& text, const Access& access) {
  fmt::format_to(Buffer(text), "    #0 {}{}\n",
                 access.place.function.empty() ? "?" : access.place.function,
                 access.place.line == 0 ? "" : " at " + place_of(access));
}

void print_rest(std::string& text, std::size_t count) {
  if (count > kMostAccesses) {
    fmt::format_to(Buffer(text), "    … and {} more\n", count - kMostAccesses);
  }
}

void print_witness(std::string& text, const WeakCause& cause) {
  for (std::size_t i = 0; i < std::min(cause.weak.size(), kMostAccesses); ++i) {
    const Access& access = cause.weak[i];
    const bool is_store = access.operation == AccessOperation::kWrite;
    fmt::format_to(Buffer(text), "  {}: {} of {}{}{}\n", is_store ? "Delayed" : access.note,
                   is_store ? "store" : "load", counted(access.size, "byte"),
                   access.has_address ? fmt::format(" at {:#x}", access.address) : "",
                   by_whom(access));
    print_frame(text, access);
  }
  print_rest(text, cause.weak.size());
  if (!cause.visible.empty()) {
    fmt::format_to(Buffer(text), "  Visible: {}\n", cause.visible);
  }
  for (std::size_t i = 0; i < std::min(cause.readers.size(), kMostAccesses); ++i) {
    fmt::format_to(Buffer(text), "  Read: the old value{}\n", by_whom(cause.readers[i]));
    print_frame(text, cause.readers[i]);
  }
  print_rest(text, cause.readers.size());
}

void print_fences(std::string& text, const WeakCause& cause) {
  for (const MissingFence& fence : cause.fences) {
    fmt::format_to(Buffer(text), "  Missing: a fence ({}, scope {}) behind {}, e.g. {}\n",
                   fence.kind, fence.scope, place_of(fence.place, fence.statement), fence.cuda);
    if (fence.inlined.size() > 1) {
      fmt::format_to(Buffer(text), "    inlined at {}\n",
                     place_of(fence.inlined.back(), fence.statement));
    }
  }
  if (!cause.no_fences.empty()) {
    fmt::format_to(Buffer(text), "  Missing: {}\n", cause.no_fences);
  }
}

void print_cause(std::string& text, const WeakCause& cause) {
  print_witness(text, cause);
  print_fences(text, cause);
  std::string data = "  Data: " + cause.space;
  if (!cause.kernel.empty()) {
    data += "; kernel " + cause.kernel;
  }
  if (cause.decisions != 0) {
    data += "; " + counted(cause.decisions, "decision");
  }
  if (!cause.fences.empty()) {
    data += fmt::format("; {} of {} left out", cause.candidates - cause.fences.size(),
                        counted(cause.candidates, "candidate fence"));
  }
  text += data + "\n";
  if (!cause.legal_by.empty()) {
    fmt::format_to(Buffer(text), "  Legal: {}\n", cause.legal_by);
  }
}

std::string in_runs(const WeakFailure& failure) {
  return fmt::format("{} in {} of {}", failure.description, failure.failures,
                     counted(failure.runs, "run"));
}

// All but the command that makes it fail again, whose names are what they are.
std::string failure_text(const WeakReport& report, const WeakFailure& failure, bool colour) {
  std::string text;
  fmt::format_to(Buffer(text),
                 "{}{}BARRACUDA: ERROR: weak-memory failure: {} ({} of {} without delays){}\n",
                 kRule, colour ? "\033[1;31m" : "", in_runs(failure), report.reference_failures,
                 report.references, colour ? "\033[0m" : "");
  for (const WeakCause& cause : failure.causes) {
    print_cause(text, cause);
  }
  fmt::format_to(Buffer(text), "  Found by: {}{}\n", failure.environment,
                 failure.is_repeatable ? "" : "; the program is not the same in each run");
  if (!failure.is_repeatable) {
    constexpr double kPercent = 100;
    fmt::format_to(Buffer(text), "  Rate: {:.0f} to {:.0f} % of runs fail (95 % confidence)\n",
                   failure.least * kPercent, failure.most * kPercent);
  }
  return text;
}

void print_failure(std::string& text, const WeakReport& report, const WeakFailure& failure,
                   const TextStyle& style) {
  text += without_prefix(failure_text(report, failure, style.colour), style.prefix);
  if (!failure.again.empty()) {
    fmt::format_to(Buffer(text), "  Again: {}\n", failure.again);
  }
  text += see_line("weak-memory-failure") + kRule;
}

void print_starvation(std::string& text, const Starvation& starvation, bool colour) {
  fmt::format_to(Buffer(text),
                 "{}{}BARRACUDA: WARNING: starvation: a plain store became visible only because "
                 "{} turns of the schedule were over{}\n",
                 kRule, colour ? "\033[1;33m" : "", starvation.turns, colour ? "\033[0m" : "");
  for (const Access& access : starvation.accesses) {
    fmt::format_to(Buffer(text), "  {}{}\n",
                   access.operation == AccessOperation::kWrite ? "Store" : "Polled",
                   by_whom(access));
    print_frame(text, access);
  }
  text +=
      "  PTX lets such a store wait until the next release of its thread: without one the "
      "program may never end\n";
  text += see_line("starvation") + kRule;
}

void print_races(std::string& text, const std::vector<RaceWithEffect>& races) {
  for (const RaceWithEffect& race : races) {
    std::vector<std::string> places;
    places.reserve(race.race.accesses.size());
    for (const Access& access : race.race.accesses) {
      places.push_back(place_of(access));
    }
    fmt::format_to(
        Buffer(text), "BARRACUDA: race {}: {}{}\n", fmt::join(places, " and "), race.description,
        race.tries == 0 ? "" : fmt::format(" ({})", counted(race.tries, "directed run")));
  }
}

}  // namespace

std::string weak_summary_line(const WeakReport& report) {
  std::string text = "BARRACUDA SUMMARY: ";
  const std::string nothing = why_no_result(report.references, report.program.coverage);
  if (!nothing.empty()) {
    text += nothing;
  } else if (report.reference_failures != 0) {
    text += fmt::format("fails without delays ({}, {} of {})", report.reference_description,
                        report.reference_failures, counted(report.references, "run"));
  } else if (report.failures.empty()) {
    text += fmt::format("no failure in {}", counted(report.weak_runs, "run"));
  } else {
    text += fmt::format("{} ({})", counted(report.failures.size(), "weak-memory failure"),
                        in_runs(report.failures.front()));
    text += ", " + counted(report.missing_fences(), "missing fence");
  }
  if (!report.starvations.empty()) {
    text += ", " + counted(report.starvations.size(), "starvation");
  }
  if (!report.races.empty()) {
    text += ", " + counted(report.races.size(), "race");
  }
  if (nothing.empty()) {
    text += covered_kernels(report.program.coverage);
  }
  return text + end_of_summary(report.lost, report.is_incomplete);
}

std::string weak_text_report(const WeakReport& report, const TextStyle& style) {
  std::string text;
  for (const WeakFailure& failure : report.failures) {
    print_failure(text, report, failure, style);
  }
  std::string rest;
  for (const Starvation& starvation : report.starvations) {
    print_starvation(rest, starvation, style.colour);
  }
  print_races(rest, report.races);
  for (const std::string& line : report.tables) {
    rest += line + "\n";
  }
  rest += remark_lines(report.program.blocked) + remark_lines(report.notes, report.tool_failure);
  return text + without_prefix(rest, style.prefix) + weak_summary_line(report) + "\n";
}

}  // namespace barracuda::report
