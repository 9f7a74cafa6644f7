#include "report/fix_json.h"

#include <utility>

#include "report/bug.h"
#include "report/json_parts.h"
#include "report/json_writer.h"

namespace barracuda::report {
namespace {

Json edit_json(const FixEdit& edit) {
  Json place = frame_json(edit.place);
  place["inlined"] = Json::array();
  for (const Frame& frame : edit.inlined) {
    place["inlined"].push_back(frame_json(frame));
  }
  place["statement"] = text_or_null(edit.statement);
  place["where"] = edit.where;
  return {{"place", std::move(place)}, {"before", text_or_null(edit.before)},
          {"after", edit.after},       {"cuda", edit.cuda},
          {"reason", edit.reason},     {"guess", edit.is_guess},
          {"cost", edit.cost},         {"no_diff", text_or_null(edit.no_diff)}};
}

Json fix_json(const FixReport& report) {
  Json edits = Json::array();
  for (const FixEdit& edit : report.edits) {
    edits.push_back(edit_json(edit));
  }
  Json open = Json::array();
  for (const UnrepairedRace& race : report.open) {
    open.push_back({{"fingerprint", text_or_null(race.race.fingerprint)}, {"why", race.why}});
  }
  Json repaired = Json::array();
  for (const RepairedRace& gone : report.repaired) {
    repaired.push_back({{"fingerprint", text_or_null(gone.race.fingerprint)},
                        {"no_proof", text_or_null(gone.no_proof)}});
  }
  return {{"schema", kJsonSchema},
          {"type", "fix"},
          {"severity", Json()},
          {"edits", std::move(edits)},
          {"races_before", report.races()},
          {"races_after", report.open.size()},
          {"failures_before", report.failures_before},
          {"failures_after", report.failures_after},
          {"directed_runs", report.directed_before},
          {"standing", report.edits.empty() ? Json() : Json(report.standing)},
          {"repaired", std::move(repaired)},
          {"open", std::move(open)},
          {"diff", text_or_null(report.diff)}};
}

}  // namespace

std::string fix_json_report(const FixReport& report) {
  std::string text;
  for (const Bug& bug : bugs_of(report.program.findings)) {
    text += json_line(bug, report.program.model);
  }
  text += one_line(fix_json(report));
  Json summary = Json::parse(json_summary(report.program));
  summary["fix"] = {{"runs", report.runs},
                    {"lost", report.lost},
                    {"edits", report.edits.size()},
                    {"incomplete", report.is_incomplete}};
  return text + one_line(summary);
}

}  // namespace barracuda::report
