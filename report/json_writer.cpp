#include "report/json_writer.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "report/bug.h"
#include "report/coverage.h"
#include "report/json_parts.h"
#include "report/sentences.h"

namespace barracuda::report {
namespace {

Json old_finding_json(const Finding& finding, const std::string& model) {
  return {{"schema", 1},
          {"type", name_of(finding.type)},
          {"severity", name_of(finding.severity)},
          {"kind", text_or_null(finding.kind)},
          {"space", text_or_null(finding.space)},
          {"model", text_or_null(model)},
          {"count", finding.count},
          {"missing", text_or_null(finding.missing)},
          {"accesses", accesses_json(finding.accesses, 1)}};
}

Json rank_or_null(std::int64_t rank) {
  return rank == Process::kNoRank ? Json() : Json(rank);
}

Json processes_json(const std::vector<Process>& processes) {
  Json list = Json::array();
  for (const Process& process : processes) {
    list.push_back({{"program", text_or_null(process.program)},
                    {"pid", process.pid},
                    {"rank", rank_or_null(process.rank)}});
  }
  return list;
}

// The variants that are not shown, each with an example of its own.
Json variants_json(const Bug& bug) {
  Json list = Json::array();
  for (const Finding* const variant : std::span(bug.variants).subspan(1)) {
    list.push_back({{"severity", name_of(variant->severity)},
                    {"kind", text_or_null(variant->kind)},
                    {"count", variant->count},
                    {"missing", text_or_null(variant->missing)},
                    {"location", text_or_null(variant->location)},
                    {"other_places", variant->has_other_places},
                    {"accesses", accesses_json(variant->accesses, kJsonSchema)},
                    {"processes", processes_json(variant->processes)}});
  }
  return list;
}

Json bug_json(const Bug& bug, const std::string& model) {
  const Finding& shown = bug.shown();
  const Process process = shown.processes.empty() ? Process{} : shown.processes.front();
  return {{"schema", kJsonSchema},
          {"type", name_of(shown.type)},
          {"fingerprint", text_or_null(shown.fingerprint)},
          {"severity", name_of(shown.severity)},
          {"kind", text_or_null(shown.kind)},
          {"space", text_or_null(shown.space)},
          {"model", text_or_null(model)},
          {"count", bug.count()},
          {"missing", text_or_null(shown.missing)},
          {"location", text_or_null(shown.location)},
          {"other_places", shown.has_other_places},
          {"program", text_or_null(process.program)},
          {"pid", process.pid == 0 ? Json() : Json(process.pid)},
          {"rank", rank_or_null(process.rank)},
          {"processes", processes_json(shown.processes)},
          {"accesses", accesses_json(shown.accesses, kJsonSchema)},
          {"variants", variants_json(bug)}};
}

Json old_summary_json(const Report& report) {
  const auto races = std::ranges::count(report.findings, FindingType::kRace, &Finding::type);
  return {{"schema", 1},
          {"type", "summary"},
          {"races", races},
          {"kernels",
           {{"launched", report.coverage.kernels()},
            {"instrumented", report.coverage.instrumented_kernels()}}},
          {"coverage", report.covers_everything() ? "complete" : "incomplete"},
          {"not_covered", gaps_and_failures(report)}};
}

// All kernels, those of libraries as well, and then whose they are.
Json kernels_json(const Coverage& coverage) {
  std::set<std::string> instrumented = coverage.instrumented;
  std::set<std::string> others = coverage.not_instrumented;
  Json libraries = Json::object();
  for (const auto& [name, kernels] : coverage.libraries) {
    instrumented.insert(kernels.instrumented.begin(), kernels.instrumented.end());
    others.insert(kernels.not_instrumented.begin(), kernels.not_instrumented.end());
    libraries[name] = {{"names", kernels.instrumented},
                       {"not_instrumented", kernels.not_instrumented}};
  }
  const std::size_t own = coverage.instrumented.size() + coverage.not_instrumented.size();
  return {{"launched", coverage.kernels()},
          {"instrumented", coverage.instrumented_kernels()},
          {"names", instrumented},
          {"not_instrumented", others},
          {"program", {{"launched", own}, {"instrumented", coverage.instrumented.size()}}},
          {"libraries", std::move(libraries)}};
}

Json summary_json(const Report& report, const std::vector<Bug>& bugs) {
  const auto races = std::ranges::count_if(
      bugs, [](const Bug& bug) { return bug.shown().type == FindingType::kRace; });
  const int signal = signal_of(report.own_status);
  Json suppressions = Json::array();
  for (const SuppressionUse& use : report.suppressions) {
    suppressions.push_back(
        {{"rule", use.rule}, {"count", use.count}, {"reason", text_or_null(use.reason)}});
  }
  return {{"schema", kJsonSchema},
          {"type", "summary"},
          {"model", text_or_null(report.model)},
          {"device", text_or_null(report.device)},
          {"races", races},
          {"known", report.known},
          {"suppressed", report.suppressed},
          {"suppressions", std::move(suppressions)},
          {"launches", report.coverage.launches},
          {"kernels", kernels_json(report.coverage)},
          {"coverage", report.covers_everything() ? "complete" : "incomplete"},
          {"program_coverage", report.covers_program() ? "complete" : "incomplete"},
          {"not_covered", gaps_and_failures(report)},
          {"exit_status", report.own_status == kUnknownStatus ? Json() : Json(report.own_status)},
          {"signal", signal == 0 ? Json() : Json(signal)},
          {"processes", processes_json(report.processes)}};
}

}  // namespace

std::string json_line(const Bug& bug, const std::string& model) {
  return one_line(bug_json(bug, model));
}

std::string json_summary(const Report& report) {
  return one_line(summary_json(report, bugs_of(report.findings)));
}

std::string json_report(const Report& report, int schema) {
  std::string text;
  if (schema == 1) {
    for (const Finding& finding : report.findings) {
      text += one_line(old_finding_json(finding, report.model));
    }
    return text + one_line(old_summary_json(report));
  }
  for (const Bug& bug : bugs_of(report.findings)) {
    text += json_line(bug, report.model);
  }
  return text + json_summary(report);
}

}  // namespace barracuda::report
