#include "weak_memory/reference_runs.h"

#include <utility>
#include <vector>

#include "report/merge.h"

namespace barracuda::weak_memory {
namespace {

report::Report merged(std::vector<Outcome> outcomes) {
  const std::uint64_t launches = outcomes.front().report.coverage.launches;
  std::vector<report::Report> reports;
  reports.reserve(outcomes.size());
  for (Outcome& outcome : outcomes) {
    reports.push_back(std::move(outcome.report));
  }
  report::Report report = report::merge(std::move(reports));
  report.coverage.launches = launches;
  return report;
}

}  // namespace

ReferenceRuns make_reference_runs(Trials& trials, std::uint64_t first_seed, std::uint64_t count) {
  ReferenceRuns references;
  std::vector<Settings> all(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    all[i].seed = first_seed + i;
  }
  std::vector<Outcome> outcomes = trials.make(all);
  std::erase_if(outcomes, [](const Outcome& outcome) { return !outcome.lost.empty(); });
  if (outcomes.empty()) {
    return references;
  }
  trials.oracle().learn(outcomes);
  references.made = outcomes.size();
  references.is_output_unstable = trials.oracle().is_output_unstable();
  for (const Outcome& outcome : outcomes) {
    const Failure failure = trials.judge(outcome);
    if (failure != Failure::kNone && references.failures++ == 0) {
      references.failure = failure;
      references.status = outcome.status;
      references.check_status = outcome.check_status;
    }
  }
  references.report = merged(std::move(outcomes));
  return references;
}

}  // namespace barracuda::weak_memory
