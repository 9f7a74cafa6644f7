#include "weak_memory/campaign.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "report/bug.h"
#include "weak_memory/environments.h"
#include "weak_memory/store_buffer/directed.h"

namespace barracuda::weak_memory {
namespace {

// Runs that must agree before a failure is believed.
constexpr std::size_t kConfirmations = 3;
constexpr double kSignificance = 0.01;
// Behind each answer of the search for the cause, where a failure is rare.
constexpr std::uint64_t kMostTrials = 200;
constexpr double kStaleShare = 0.5;
// The search for the cause leaves out the seeds that the runs of this many environments may have
// had.
constexpr std::uint64_t kMostEnvironments = 32;

std::vector<std::uint64_t> seeds_from(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

Settings without_weakness(Settings settings) {
  settings.weakness = {};
  settings.wants_log = false;
  return settings;
}

void add(Rate& all, const Rate& more) {
  all.runs += more.runs;
  all.failures += more.failures;
}

// With this seed first, as many as asked for.
std::vector<std::uint64_t> with_seed(std::vector<std::uint64_t> seeds, std::uint64_t seed) {
  const auto known = std::ranges::find(seeds, seed);
  if (known == seeds.end()) {
    seeds.back() = seed;
  }
  std::ranges::stable_partition(seeds, [seed](std::uint64_t other) { return other == seed; });
  return seeds;
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, Trials& trials, const TellStage& tell)
      : options_(options), trials_(trials), tell_(tell) {}

  CampaignResult run() {
    if (make_references()) {
      if (options_.directed && options_.is_repeatable) {
        direct_by_races();
      }
      if (options_.stresses) {
        make_stressed_runs();
      } else {
        make_random_runs();
      }
    }
    result_.runs = trials_.made();
    result_.lost = trials_.lost();
    result_.reason_of_loss = trials_.reason_of_loss();
    result_.is_incomplete = trials_.is_over();
    std::ranges::stable_sort(result_.races, {}, &RaceEffect::effect);
    return std::move(result_);
  }

 private:
  // False: it is of no use to go on.
  bool make_references() {
    tell_("without delays");
    result_.references = make_reference_runs(trials_, options_.first_seed, options_.references);
    for (const report::Bug& bug : report::bugs_of(result_.references.report.findings)) {
      if (bug.shown().type == report::FindingType::kRace) {
        result_.races.push_back({.race = bug.shown()});
      }
    }
    std::ranges::stable_sort(result_.races, {}, [](const RaceEffect& effect) {
      return effect.race.severity;  // errors first
    });
    return result_.references.are_good();
  }

  [[nodiscard]] bool is_done() const {
    return trials_.is_over() || (!options_.all && !result_.failures.empty());
  }

  void direct_by_races() {
    for (std::size_t i = 0; i < result_.races.size() && !is_done(); ++i) {
      RaceEffect& effect = result_.races[i];
      if (!can_direct(effect.race)) {
        continue;
      }
      const std::string name = fmt::format("race {} of {}", i + 1, result_.races.size());
      tell_(name);
      std::vector<Settings> runs =
          directed_runs(effect.race, {.count = options_.per_race,
                                      .first_seed = options_.first_seed,
                                      .stores_only = options_.stores_only});
      const std::size_t starvations = result_.starvations.size();
      const auto found = look_for_failure(std::move(runs), name, effect.tries);
      if (trials_.is_over() && !found) {
        continue;
      }
      effect.effect = found                                      ? RaceEffect::Effect::kHarmful
                      : result_.starvations.size() > starvations ? RaceEffect::Effect::kStarving
                                                                 : RaceEffect::Effect::kNotShown;
      effect.failure = found ? *found : Failure::kNone;
    }
  }

  void make_random_runs() {
    for (const bool with_stale_reads : {false, true}) {
      if (with_stale_reads && (options_.stores_only || !options_.is_repeatable)) {
        return;
      }
      const std::string name = !with_stale_reads     ? "delayed stores"
                               : options_.late_loads ? "delayed stores, stale reads and late loads"
                                                     : "delayed stores and stale reads";
      std::vector<Settings> runs;
      for (std::uint64_t i = 0; i < options_.runs; ++i) {
        Weakness weakness;
        weakness.stores = options_.probabilities[i % options_.probabilities.size()];
        weakness.stale_reads = with_stale_reads ? kStaleShare : 0;
        weakness.late_loads = with_stale_reads && options_.late_loads ? kStaleShare : 0;
        runs.push_back({.seed = options_.first_seed + i,
                        .weakness = std::move(weakness),
                        .fences = {},
                        .edits = {}});
      }
      if (is_done()) {
        return;
      }
      tell_(name);
      std::uint64_t tries = 0;
      (void)look_for_failure(std::move(runs), name, tries);
    }
  }

  // A failure is confirmed once for each environment; asked at the first, second, fourth … of them.
  void make_stressed_runs() {
    const std::vector<Environment> all = environments(options_.probabilities);
    for (const Environment& environment : all) {
      result_.environments.push_back({.name = environment.name, .rate = {}});
    }
    std::vector<bool> is_confirmed(all.size());
    tell_("with stress and delayed stores, in turn");
    const std::uint64_t runs = options_.runs * all.size();
    for (std::uint64_t begin = 0; begin < runs && !is_done(); begin += Trials::kAtOnce) {
      std::vector<Settings> some;
      for (std::uint64_t i = begin; i < std::min(begin + Trials::kAtOnce, runs); ++i) {
        some.push_back({.seed = options_.first_seed + i,
                        .weakness = all[i % all.size()].weakness,
                        .fences = {},
                        .edits = {}});
      }
      const std::vector<Outcome> outcomes = trials_.make(some);
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const std::size_t which = (begin + i) % all.size();
        Rate& rate = result_.environments[which].rate;
        const std::uint64_t made = outcomes[i].lost.empty() ? 1 : 0;
        rate.runs += made;
        result_.weak_runs += made;
        const Failure failure = trials_.judge(outcomes[i]);
        rate.failures += failure == Failure::kNone ? 0 : 1;
        if (failure != Failure::kNone && !is_confirmed[which] &&
            std::has_single_bit(rate.failures) && !is_done()) {
          is_confirmed[which] = confirm(failure, some[i], all[which].name);
        }
      }
    }
  }

  // The first confirmed failure of these runs, which joins the result with its cause.
  std::optional<Failure> look_for_failure(std::vector<Settings> runs, const std::string& name,
                                          std::uint64_t& tries) {
    for (Settings& run : runs) {
      run.wants_log = options_.is_repeatable;
    }
    for (std::size_t begin = 0; begin < runs.size() && !trials_.is_over();
         begin += Trials::kAtOnce) {
      const std::size_t end = std::min(begin + Trials::kAtOnce, runs.size());
      const std::vector<Outcome> outcomes =
          trials_.make({runs.begin() + static_cast<std::ptrdiff_t>(begin),
                        runs.begin() + static_cast<std::ptrdiff_t>(end)});
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const std::uint64_t made = outcomes[i].lost.empty() ? 1 : 0;
        tries += made;
        result_.weak_runs += made;
        note_log(outcomes[i].log);
        const Failure failure = trials_.judge(outcomes[i]);
        if (failure != Failure::kNone && confirm(failure, runs[begin + i], name)) {
          return failure;
        }
      }
    }
    return std::nullopt;
  }

  void note_log(const emulator::WeakLog& log) {
    for (const emulator::WeakEvent& event : log.starvations) {
      const bool is_known =
          std::ranges::any_of(result_.starvations, [&event](const emulator::WeakEvent& other) {
            return other.at == event.at && other.reader.at == event.reader.at &&
                   other.decision.kernel == event.decision.kernel;
          });
      if (!is_known) {
        result_.starvations.push_back(event);
      }
    }
    for (std::size_t space = 0; space < log.drains.size(); ++space) {
      for (std::size_t length = 0; length < log.drains[space].size(); ++length) {
        result_.drains[space][length] += log.drains[space][length];
      }
    }
  }

  bool confirm(Failure failure, Settings settings, const std::string& name) {
    tell_(name + ": it fails; once more");
    settings.wants_log = false;
    return options_.is_repeatable ? confirm_by_seed(failure, settings, name)
                                  : confirm_by_rate(failure, settings, name);
  }

  // By seeds that no run has had, with and without delays.
  bool confirm_by_rate(Failure failure, const Settings& settings, const std::string& name) {
    ExposedFailure exposed{.failure = failure,
                           .settings = settings,
                           .environment = name,
                           .rate = {},
                           .is_repeatable = false,
                           .causes = {}};
    const std::uint64_t first = options_.first_seed + options_.runs * kMostEnvironments;
    Rate calm;
    // If it fails rarely, as many runs as it takes to tell that from chance, or to see that the
    // environment is of no use.
    do {
      const std::vector<std::uint64_t> seeds =
          seeds_from(first + exposed.rate.runs, std::max(options_.trials, exposed.rate.runs));
      add(exposed.rate, trials_.rate_of(settings, seeds));
      add(calm, trials_.rate_of(without_weakness(settings), seeds));
    } while (!trials_.is_over() && chance_of(exposed.rate, calm) > kSignificance &&
             exposed.rate.failures > calm.failures && exposed.rate.runs < kMostTrials);
    if (trials_.is_over() || chance_of(exposed.rate, calm) > kSignificance) {
      result_.failures_of_schedule += calm.failures == 0 ? 0 : 1;
      return false;
    }
    if (options_.root_cause) {
      tell_(name + ": it fails; looking for the cause");
      const std::uint64_t trials =
          std::max(options_.trials, runs_to_see(exposed.rate, kMostTrials));
      exposed.causes = find_root_causes(trials_, settings, seeds_from(first, trials), HasLog::kNo);
    }
    if (is_new(exposed)) {
      result_.failures.push_back(std::move(exposed));
    }
    return true;
  }

  bool confirm_by_seed(Failure failure, const Settings& settings, const std::string& name) {
    const std::vector<std::uint64_t> again(kConfirmations, settings.seed);
    const Rate without = trials_.rate_of(without_weakness(settings), again);
    const Rate with = trials_.rate_of(settings, again);
    if (trials_.is_over() || with.runs == 0 || without.runs == 0) {
      return false;
    }
    const std::vector<std::uint64_t> seeds =
        with_seed(seeds_from(options_.first_seed, options_.trials), settings.seed);
    ExposedFailure exposed{.failure = failure,
                           .settings = settings,
                           .environment = name,
                           .rate = trials_.rate_of(settings, seeds),
                           .is_repeatable = with.failures == with.runs && without.failures == 0,
                           .causes = {}};
    if (!exposed.is_repeatable) {
      const bool is_of_schedule = with.failures == with.runs && without.failures == without.runs;
      const Rate calm =
          is_of_schedule ? without : trials_.rate_of(without_weakness(settings), seeds);
      if (is_of_schedule || chance_of(exposed.rate, calm) > kSignificance) {
        ++result_.failures_of_schedule;
        return false;
      }
    }
    if (options_.root_cause && !trials_.is_over()) {
      tell_(name + ": it fails; looking for the cause");
      // "Does not fail" is an answer only after so many runs that a failure would have been seen.
      const std::uint64_t trials =
          std::max(options_.trials, runs_to_see(exposed.rate, kMostTrials));
      exposed.causes = find_root_causes(
          trials_, settings, with_seed(seeds_from(options_.first_seed, trials), settings.seed));
    }
    if (is_new(exposed)) {
      result_.failures.push_back(std::move(exposed));
    }
    return true;
  }

  // Another way to see what is known is not another failure.
  [[nodiscard]] bool is_new(const ExposedFailure& exposed) const {
    const auto fences_of = [](const ExposedFailure& failure) {
      std::vector<std::vector<NeededFence>> all;
      all.reserve(failure.causes.size());
      for (const RootCause& cause : failure.causes) {
        all.push_back(cause.fences);
      }
      return all;
    };
    const auto fences = fences_of(exposed);
    const bool is_explained =
        std::ranges::any_of(fences, [](const auto& some) { return !some.empty(); });
    return !is_explained ||
           std::ranges::none_of(result_.failures, [&](const ExposedFailure& known) {
             return known.failure == exposed.failure && fences_of(known) == fences;
           });
  }

  const CampaignOptions& options_;
  Trials& trials_;
  const TellStage& tell_;
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options, Trials& trials, const TellStage& tell) {
  return Campaign(options, trials, tell).run();
}

}  // namespace barracuda::weak_memory
