#include "report/weak_json.h"

#include <utility>

#include "report/bug.h"
#include "report/json_parts.h"
#include "report/json_writer.h"

namespace barracuda::report {
namespace {

Json failure_json(const WeakReport& report, const WeakFailure& failure, const WeakCause& cause) {
  Json fences = Json::array();
  for (const MissingFence& fence : cause.fences) {
    fences.push_back(fence_place_json(fence));
  }
  return {{"schema", kJsonSchema},
          {"type", "weak-memory-failure"},
          {"severity", "error"},
          {"failure", failure.failure},
          {"environment", text_or_null(failure.environment)},
          {"runs", failure.runs},
          {"failures", failure.failures},
          {"reference_runs", report.references},
          {"reference_failures", report.reference_failures},
          {"space", text_or_null(cause.space)},
          {"kernel", text_or_null(cause.kernel)},
          {"mechanism", text_or_null(cause.mechanism)},
          {"accesses",
           {{"weak", accesses_json(cause.weak, kJsonSchema)},
            {"read", accesses_json(cause.readers, kJsonSchema)}}},
          {"visible", text_or_null(cause.visible)},
          {"decisions", cause.decisions == 0 ? Json() : Json(cause.decisions)},
          {"missing", text_or_null(cause.no_fences)},
          {"fences", std::move(fences)},
          {"plan", text_or_null(failure.plan)},
          {"legal_by", text_or_null(cause.legal_by)}};
}

Json starvation_json(const Starvation& starvation) {
  return {{"schema", kJsonSchema},
          {"type", "starvation"},
          {"severity", "warning"},
          {"accesses", accesses_json(starvation.accesses, kJsonSchema)},
          {"turns", starvation.turns}};
}

Json effect_json(const RaceWithEffect& race) {
  return {{"schema", kJsonSchema}, {"type", "race-effect"},
          {"severity", Json()},    {"fingerprint", text_or_null(race.race.fingerprint)},
          {"effect", race.effect}, {"tries", race.tries}};
}

// Without the program's own fault nothing can be said of its memory.
Json reference_failure_json(const WeakReport& report) {
  const WeakFailure failure{.failure = "fails-without-delays",
                            .description = "",
                            .environment = "",
                            .causes = {},
                            .plan = "",
                            .again = ""};
  return failure_json(report, failure, {});
}

Json summary_json(const WeakReport& report) {
  Json summary = Json::parse(json_summary(report.program));
  summary["weak_memory"] = {{"failures", report.failures.size()},
                            {"missing_fences", report.missing_fences()},
                            {"starvations", report.starvations.size()},
                            {"runs", report.runs},
                            {"lost", report.lost},
                            {"incomplete", report.is_incomplete}};
  return summary;
}

}  // namespace

std::string weak_json_report(const WeakReport& report) {
  std::string text;
  if (report.reference_failures != 0) {
    text += one_line(reference_failure_json(report));
  }
  for (const WeakFailure& failure : report.failures) {
    if (failure.causes.empty()) {
      text += one_line(failure_json(report, failure, {}));
    }
    for (const WeakCause& cause : failure.causes) {
      text += one_line(failure_json(report, failure, cause));
      for (const MissingFence& fence : cause.fences) {
        text += one_line(fence_json(fence, "missing-fence", "error"));
      }
    }
  }
  for (const Starvation& starvation : report.starvations) {
    text += one_line(starvation_json(starvation));
  }
  for (const Bug& bug : bugs_of(report.program.findings)) {
    text += json_line(bug, report.program.model);
  }
  for (const RaceWithEffect& race : report.races) {
    text += one_line(effect_json(race));
  }
  return text + one_line(summary_json(report));
}

}  // namespace barracuda::report
