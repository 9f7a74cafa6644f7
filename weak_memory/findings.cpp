#include "weak_memory/findings.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "weak_memory/fence_report.h"

namespace barracuda::weak_memory {
namespace {

using emulator::WeakEnd;
using emulator::WeakEvent;
using emulator::WeakKind;

report::Coordinates coordinates_of(const emulator::Dim3& at) {
  return {at.x, at.y, at.z};
}

report::Frame frame_of(const std::string& kernel, const emulator::CodePlace& at) {
  return {.function = kernel, .file = at.file, .line = at.line};
}

const char* note_of(WeakKind kind) {
  switch (kind) {
    case WeakKind::kStore:
      return "";
    case WeakKind::kStale:
      return "Stale";
    case WeakKind::kLate:
      return "Late";
  }
  return "";
}

// What the event is about, by this thread at this place.
report::Access access_at(const WeakEvent& event, const emulator::CodePlace& place,
                         const emulator::Dim3& thread, const emulator::Dim3& block) {
  report::Access access;
  access.operation = report::AccessOperation::kRead;
  access.size = event.bytes;
  access.address = event.address;
  access.has_address = true;
  access.kernel = kernel_name(event.decision.kernel);
  access.place = frame_of(access.kernel, place);
  access.launch = static_cast<std::uint32_t>(event.decision.launch);
  access.has_thread = true;
  access.thread = coordinates_of(thread);
  access.block = coordinates_of(block);
  return access;
}

report::Access access_of(const WeakEvent& event) {
  report::Access access = access_at(event, event.at, event.decision.thread, event.decision.block);
  if (event.decision.kind == WeakKind::kStore) {
    access.operation = report::AccessOperation::kWrite;
  }
  access.note = note_of(event.decision.kind);
  return access;
}

report::Access reader_of(const WeakEvent& event) {
  return access_at(event, event.reader.at, event.reader.thread, event.reader.block);
}

const char* words_of(WeakEnd end) {
  switch (end) {
    case WeakEnd::kRelease:
      return "at a release";
    case WeakEnd::kBarrier:
      return "at a barrier";
    case WeakEnd::kAge:
      return "by its age";
    case WeakEnd::kPoll:
      return "because every thread polled";
    case WeakEnd::kCapacity:
      return "because its buffer was full";
    case WeakEnd::kSettle:
      return "at an access of its own thread or block to the same bytes";
    case WeakEnd::kExit:
      return "when its thread or block ended";
    case WeakEnd::kLaunchEnd:
      return "when the launch ended";
    case WeakEnd::kHeld:
      return "after another thread had accessed the bytes";
    case WeakEnd::kRead:
      return "when it took place";
  }
  return "";
}

struct Mechanism {
  const char* name;
  const char* legal_by;
};

Mechanism mechanism_of(const RootCause& cause) {
  const Weakness& weakness = cause.reduced.weakness;
  const bool delays_alone =
      weakness.stores > 0 && weakness.stale_reads == 0 && weakness.late_loads == 0;
  const auto has = [&](WeakKind kind) {
    return std::ranges::any_of(
               cause.events,
               [kind](const WeakEvent& event) { return event.decision.kind == kind; }) ||
           (cause.events.empty() && delays_alone && kind == WeakKind::kStore);
  };
  if (has(WeakKind::kStale)) {
    return {.name = "stale-read",
            .legal_by =
                "PTX orders a load behind an earlier one of its thread only through an "
                "acquire between them"};
  }
  if (has(WeakKind::kLate)) {
    return {.name = "late-load",
            .legal_by =
                "PTX orders a load before a later store of its thread only through a "
                "release between them"};
  }
  if (has(WeakKind::kStore)) {
    return {.name = "delayed-store",
            .legal_by =
                "PTX shows a store to other threads before a later one of its thread only "
                "if a release stands between them"};
  }
  return {.name = "", .legal_by = ""};
}

std::string why_no_fences(const RootCause& cause) {
  switch (cause.search) {
    case RootCause::Fences::kFound:
      return "";
    case RootCause::Fences::kNotCured:
      return "fences do not cure this: it fails with one behind every access too";
    case RootCause::Fences::kNoPlaces:
      return "not known: no place for a fence was found";
    case RootCause::Fences::kNotLookedFor:
      return "not known: the search did not come to its end";
  }
  return "";
}

report::WeakCause cause_of(const RootCause& cause) {
  const Mechanism mechanism = mechanism_of(cause);
  report::WeakCause reported{.space = cause.global && cause.shared ? "global and shared"
                                      : cause.global               ? "global"
                                                                   : "shared",
                             .kernel = cause.kernel.empty() ? "" : kernel_name(cause.kernel),
                             .mechanism = mechanism.name,
                             .legal_by = mechanism.legal_by,
                             .weak = {},
                             .readers = {},
                             .visible = "",
                             .fences = {},
                             .no_fences = why_no_fences(cause),
                             .candidates = cause.candidates};
  for (const NeededFence& needed : cause.fences) {
    reported.fences.push_back(reported_fence(needed.place, needed.fence, cause.seeds));
  }
  if (!cause.is_reduced) {
    return reported;  // of thousands of stores it is not known which ones matter
  }
  reported.decisions = cause.events.size();
  for (const WeakEvent& event : cause.events) {
    reported.weak.push_back(access_of(event));
    if (event.was_read) {
      reported.readers.push_back(reader_of(event));
    }
  }
  const auto store = std::ranges::find_if(
      cause.events, [](const WeakEvent& event) { return event.decision.kind == WeakKind::kStore; });
  if (store != cause.events.end()) {
    reported.visible =
        fmt::format("{} turns of the schedule later, {}", store->turns, words_of(store->until));
  }
  return reported;
}

report::RaceWithEffect race_of(const RaceEffect& race) {
  const auto verdict = [&race](const char* effect, std::string description) {
    return report::RaceWithEffect{.race = race.race,
                                  .effect = effect,
                                  .description = std::move(description),
                                  .tries = race.tries};
  };
  switch (race.effect) {
    case RaceEffect::Effect::kHarmful:
      return verdict("harmful", fmt::format("harmful: {}", description_of(race.failure)));
    case RaceEffect::Effect::kStarving:
      return verdict("starving", "starving: a store became visible only by its age");
    case RaceEffect::Effect::kNotShown:
      return verdict("not-shown", "not shown harmful");
    case RaceEffect::Effect::kNotTried:
      return verdict("not-tried", "not tried");
  }
  return verdict("", "");
}

std::string reference_description(const CampaignResult& result) {
  if (result.references.failure == Failure::kStatus ||
      result.references.failure == Failure::kCrash) {
    return fmt::format("{}, status {}", description_of(result.references.failure),
                       result.references.status);
  }
  return description_of(result.references.failure);
}

void add_notes(report::WeakReport& report, const CampaignResult& result) {
  if (result.references.is_output_unstable) {
    report.notes.emplace_back(kOutputsNotCompared);
  }
  if (result.failures_of_schedule != 0) {
    report.notes.push_back(
        fmt::format("{} runs failed with delays and, with the same seed, without: that is the "
                    "schedule's doing, and no failure of weak memory",
                    result.failures_of_schedule));
  }
  if (result.lost != 0) {
    report.notes.push_back(lost_runs(result.lost, result.reason_of_loss));
  }
  if (result.references.failures != 0) {
    report.notes.push_back(fmt::format(
        "the program fails without delays ({} in {} of {} runs): weak memory can only "
        "be blamed for what goes well without it; the expected status is set by "
        "--expect-status",
        reference_description(result), result.references.failures, result.references.made));
  }
}

}  // namespace

report::WeakReport report_of(const CampaignResult& result) {
  report::WeakReport report;
  report.program = result.references.report;
  report.references = result.references.made;
  report.reference_failures = result.references.failures;
  if (result.references.failures != 0) {
    report.reference_failure = name_of(result.references.failure);
    report.reference_description = reference_description(result);
  }
  report.weak_runs = result.weak_runs;
  report.runs = result.runs;
  report.lost = result.lost;
  report.is_incomplete = result.is_incomplete;
  for (const ExposedFailure& failure : result.failures) {
    const Interval interval = confidence_of(failure.rate);
    report::WeakFailure reported{.failure = name_of(failure.failure),
                                 .description = description_of(failure.failure),
                                 .environment = failure.environment,
                                 .runs = failure.rate.runs,
                                 .failures = failure.rate.failures,
                                 .least = interval.least,
                                 .most = interval.most,
                                 .causes = {},
                                 .plan = "",
                                 .again = "",
                                 .is_repeatable = failure.is_repeatable};
    std::ranges::transform(failure.causes, std::back_inserter(reported.causes), cause_of);
    report.failures.push_back(std::move(reported));
  }
  for (const WeakEvent& event : result.starvations) {
    report::Starvation starvation{.accesses = {access_of(event)}, .turns = event.turns};
    if (event.was_read) {
      starvation.accesses.push_back(reader_of(event));
    }
    report.starvations.push_back(std::move(starvation));
  }
  std::ranges::transform(result.races, std::back_inserter(report.races), race_of);
  add_notes(report, result);
  return report;
}

std::string lost_runs(std::uint64_t lost, const std::string& reason) {
  return fmt::format("{} runs could not be made: {}", lost, reason);
}

std::vector<std::string> drain_table(const CampaignResult& result) {
  std::vector<std::string> lines = {"drains that found so many stores (global, shared):"};
  for (std::size_t length = 0; length < result.drains.front().size(); ++length) {
    const std::uint64_t global = result.drains[0][length];
    const std::uint64_t shared = result.drains[1][length];
    if (global + shared != 0) {
      lines.push_back(fmt::format("{:>6}{} {:>10} {:>10}", length,
                                  length + 1 == result.drains.front().size() ? " and more" : "",
                                  global, shared));
    }
  }
  return lines;
}

std::vector<std::string> environment_table(const ReferenceRuns& references,
                                           const std::vector<EnvironmentRate>& environments) {
  constexpr double kEffective = 0.05;
  std::vector<std::string> lines = {"| environment | failures | runs | effective |",
                                    "|---|---|---|---|"};
  lines.push_back(fmt::format("| nothing | {} | {} | |", references.failures, references.made));
  for (const EnvironmentRate& each : environments) {
    const bool is_effective =
        static_cast<double>(each.rate.failures) > kEffective * static_cast<double>(each.rate.runs);
    lines.push_back(fmt::format("| {} | {} | {} | {} |", each.name, each.rate.failures,
                                each.rate.runs, is_effective ? "yes" : ""));
  }
  return lines;
}

}  // namespace barracuda::weak_memory
