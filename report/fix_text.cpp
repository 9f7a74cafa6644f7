#include "report/fix_text.h"

#include <iterator>

#include <fmt/format.h>

#include "report/coverage.h"
#include "report/path_prefix.h"
#include "report/remarks.h"
#include "report/sentences.h"

namespace barracuda::report {
namespace {

constexpr const char* kRule = "==================\n";

using Buffer = std::back_insert_iterator<std::string>;

std::string places_of(const Finding& race) {
  std::string text;
  for (const Access& access : race.accesses) {
    text += (text.empty() ? "" : " and ") + place_of(access);
  }
  return text;
}

void print_edit(std::string& text, const FixEdit& edit, std::size_t number) {
  fmt::format_to(Buffer(text), "  Edit {}: {} {}: {}\n", number, edit.where,
                 place_of(edit.place, edit.statement), edit.cuda);
  fmt::format_to(Buffer(text), "    PTX: {}{}; {}\n",
                 edit.before.empty() ? "" : edit.before + " becomes ", edit.after, edit.reason);
  if (edit.inlined.size() > 1) {
    fmt::format_to(Buffer(text), "    inlined at {}\n",
                   place_of(edit.inlined.back(), edit.statement));
  }
  if (edit.is_guess) {
    text +=
        "    the runs without it show no hand-over, so the report of the race could only guess; "
        "the runs with it do\n";
  }
  if (!edit.no_diff.empty()) {
    fmt::format_to(Buffer(text), "    not in the diff: {}\n", edit.no_diff);
  }
}

std::string words_for(const std::string& standing) {
  return standing == "proof"
             ? "proof: in no execution of the idiom that the PTX model allows is it left"
         : standing == "simulation"
             ? "simulation: no race, and no failure with late stores and stale loads"
             : "detector: no race in the schedules that were run";
}

// All but the diff.
std::string repair_text(const FixReport& report, bool colour) {
  std::string text;
  fmt::format_to(Buffer(text), "{}{}BARRACUDA: FIX: {} of {} gone with {}{}\n", kRule,
                 colour ? "\033[1;32m" : "", report.repaired.size(),
                 counted(report.races(), "race"), counted(report.edits.size(), "edit"),
                 colour ? "\033[0m" : "");
  for (std::size_t i = 0; i < report.edits.size(); ++i) {
    print_edit(text, report.edits[i], i + 1);
  }
  for (const RepairedRace& gone : report.repaired) {
    fmt::format_to(Buffer(text), "  Gone: race of {}\n    it was: {}\n    {}\n",
                   places_of(gone.race), gone.race.missing,
                   gone.no_proof.empty()
                       ? "proved: under the PTX model its slice has the race, the "
                         "slice of the repaired program has none"
                       : "not proved: " + gone.no_proof);
  }
  fmt::format_to(Buffer(text), "  Shown by: {}, {} without a race", words_for(report.standing),
                 counted(report.schedules, "schedule"));
  if (report.directed_before != 0) {
    fmt::format_to(Buffer(text), "; directed runs fail {} of {} times before, {} of {} after",
                   report.failures_before, report.directed_before, report.failures_after,
                   report.directed_after);
  }
  return text + "\n";
}

void print_open(std::string& text, const UnrepairedRace& open, bool colour) {
  fmt::format_to(Buffer(text), "{}BARRACUDA: not repaired: race of {}: {}{}\n",
                 colour ? "\033[1;31m" : "", places_of(open.race), open.why,
                 colour ? "\033[0m" : "");
}

}  // namespace

std::string fix_summary_line(const FixReport& report) {
  std::string text = "BARRACUDA SUMMARY: ";
  const std::string nothing = why_no_result(report.runs, report.program.coverage);
  if (!nothing.empty()) {
    text += nothing;
  } else if (report.races() == 0) {
    text += fmt::format("no race in {}, nothing to fix", counted(report.schedules, "schedule"));
  } else {
    text += fmt::format("{}, {} repaired", counted(report.races(), "race"), report.repaired.size());
    if (!report.edits.empty()) {
      text += fmt::format(" by {} ({})", counted(report.edits.size(), "edit"), report.standing);
    }
  }
  if (nothing.empty()) {
    text += covered_kernels(report.program.coverage);
  }
  if (report.is_incomplete) {
    text += ", INCOMPLETE";
  }
  return text + "\n";
}

std::string fix_text_report(const FixReport& report, const TextStyle& style) {
  std::string text;
  if (!report.edits.empty()) {
    // The diff is for `patch`, wherever that runs.
    text += without_prefix(repair_text(report, style.colour), style.prefix) + report.diff + kRule;
  }
  std::string rest;
  for (const UnrepairedRace& open : report.open) {
    print_open(rest, open, style.colour);
  }
  rest += remark_lines(report.notes, report.tool_failure);
  return text + without_prefix(rest, style.prefix) + fix_summary_line(report);
}

}  // namespace barracuda::report
