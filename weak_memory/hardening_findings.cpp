#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device_logger/scope_order.h"
#include "weak_memory/fence_report.h"
#include "weak_memory/findings.h"
#include "weak_memory/hardening.h"

namespace barracuda::weak_memory {
namespace {

// One that does what those behind all accesses of a place do: in the source it is one line.
ptx::Fence together(const std::vector<Fence>& fences) {
  ptx::Fence all = fences.front().fence;
  for (const Fence& fence : fences) {
    all.scope = wire::wider(all.scope, fence.fence.scope);
    all.order = fence.fence.order == wire::MemoryOrder::kSeqCst ? fence.fence.order : all.order;
  }
  return all;
}

report::MissingFence reported(const CandidateFence& candidate, std::size_t runs) {
  if (candidate.is_own()) {
    return reported_fence(candidate.own.front(), runs);
  }
  SourcePlace place;
  std::ranges::transform(candidate.added, std::back_inserter(place.accesses), &Fence::place);
  return reported_fence(place, together(candidate.added), runs);
}

std::string why_no_result(const HardeningResult& result) {
  using End = HardeningResult::End;
  switch (result.end) {
    case End::kNotTried:
      return "nothing was tried";
    case End::kReferenceFails:
      return fmt::format("fails without delays ({} in {} of {} runs)",
                         description_of(result.references.failure), result.references.failures,
                         result.references.made);
    case End::kNoPlaces:
      return "its kernels access no memory that threads share";
    case End::kNotCured:
      return fmt::format("fences do not cure this: {} with one behind every access too",
                         description_of(result.failure));
    case End::kReduced:
    case End::kIncomplete:
      break;
  }
  return "";
}

std::string notes_of_rates(const HardeningResult& result) {
  return result.chosen.empty()
             ? "no run of any environment failed without fences: none is shown to be needed, or "
               "the environments are too weak for this program"
             : fmt::format(
                   "no run can be repeated exactly: all answers are of runs with fresh seeds, "
                   "made with {}; fences that are too narrow are not shown",
                   fmt::join(result.chosen, "; "));
}

}  // namespace

report::HardeningReport report_of(const HardeningResult& result) {
  report::HardeningReport report;
  report.program = result.references.report;
  report.places = result.places;
  report.references = result.references.made;
  report.reference_failures = result.references.failures;
  if (result.failure != Failure::kNone) {
    report.failure = description_of(result.failure);
  }
  report.weak_runs_as_it_is = result.as_it_is.runs;
  report.failures_as_it_is = result.as_it_is.failures;
  report.iterations = result.iterations;
  report.stable_runs = result.stable_runs;
  report.runs = result.runs;
  report.lost = result.lost;
  report.no_result = why_no_result(result);
  report.is_not_cured = result.end == HardeningResult::End::kNotCured;
  report.is_incomplete = result.end == HardeningResult::End::kIncomplete;
  const std::uint64_t runs = std::max(result.iterations, result.stable_runs);
  for (const CandidateFence& each : result.kept) {
    (each.is_own() ? report.needed : report.missing).push_back(reported(each, runs));
  }
  for (const CandidateFence& each : result.left_out_own) {
    report.redundant.push_back(reported(each, runs));
  }
  for (const FenceCost& cost : result.costs) {
    report.costs.push_back({.fences = cost.fences,
                            .warp_instructions = cost.counts.warp_instructions,
                            .executed_fences = cost.counts.fences,
                            .nanoseconds = cost.time.nanoseconds,
                            .millijoules = cost.time.millijoules,
                            .no_energy = cost.time.no_energy});
  }
  report.environments = result.chosen;
  if (!result.environments.empty()) {
    report.tables = environment_table(result.references, result.environments);
    report.notes.push_back(notes_of_rates(result));
  }
  if (result.references.is_output_unstable) {
    report.notes.emplace_back(kOutputsNotCompared);
  }
  if (result.lost != 0) {
    report.notes.push_back(lost_runs(result.lost, result.reason_of_loss));
  }
  return report;
}

}  // namespace barracuda::weak_memory
