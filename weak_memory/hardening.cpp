#include "weak_memory/hardening.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "weak_memory/environments.h"
#include "weak_memory/fence_search/fence_runs.h"

namespace barracuda::weak_memory {
namespace {

constexpr double kStaleShare = 0.5;
constexpr std::uint64_t kCostRuns = 5, kTimedRuns = 11;

// Where nothing is known yet: runs of each environment, and as many rounds of them until one fails.
constexpr std::uint64_t kProbes = 8, kMostProbes = 32;
// How many environments are used at most. Each fails at least half as often as the best.
constexpr std::size_t kMostChosen = 8;
// Behind an answer at most, if the program fails too seldom for the runs that were asked for.
constexpr std::uint64_t kMostIterations = 200;

// The probabilities in turn; every other round of them has stale reads and late loads besides, for
// a store that is late shows most by itself.
std::vector<Environment> weaknesses(const HardeningOptions& options) {
  std::vector<Environment> all;
  for (const double stale : {0.0, kStaleShare}) {
    for (const double probability : options.probabilities) {
      if (stale == 0 || !options.stores_only) {
        all.push_back(
            {.name = "",
             .weakness = {.stores = probability, .stale_reads = stale, .late_loads = stale}});
      }
    }
  }
  return all;
}

FenceRunOptions run_options(const HardeningOptions& options) {
  return {.first_seed = options.first_seed,
          .environments = options.is_repeatable
                              ? weaknesses(options)
                              : environments(options.probabilities,
                                             options.stresses ? WithStress::kYes : WithStress::kNo),
          .is_repeatable = options.is_repeatable};
}

class Hardening {
 public:
  Hardening(const HardeningOptions& options, Trials& trials, const TellStage& tell)
      : options_(options), trials_(trials), tell_(tell), runs_(run_options(options), trials) {}

  HardeningResult run() {
    tell_("without delays");
    result_.references = make_reference_runs(trials_, options_.first_seed, options_.references);
    if (result_.references.are_good()) {
      search();
    } else if (result_.references.failures != 0) {
      result_.end = HardeningResult::End::kReferenceFails;
    }
    result_.failure = runs_.first_failure();
    result_.runs = trials_.made();
    result_.lost = trials_.lost();
    result_.reason_of_loss = trials_.reason_of_loss();
    return std::move(result_);
  }

 private:
  using Fences = std::vector<CandidateFence>;

  void search() {
    Settings settings{.seed = options_.first_seed, .weakness = {}, .fences = {}, .edits = {}};
    settings.wants_places = true;
    const Outcome places = trials_.make_one(settings);
    if (!places.lost.empty()) {
      result_.end = HardeningResult::End::kIncomplete;  // not: there are none
      return;
    }
    all_ = candidate_fences(places.fences);
    if (options_.keeps_fences) {
      std::erase_if(all_, &CandidateFence::is_own);
    }
    result_.own = static_cast<std::size_t>(std::ranges::count_if(all_, &CandidateFence::is_own));
    result_.places = all_.size() - result_.own;
    if (result_.places == 0) {
      result_.end = HardeningResult::End::kNoPlaces;
      return;
    }
    if (!options_.is_repeatable) {
      choose_environments();
    }
    tell_("with its own fences alone");
    Fences own = all_;
    std::erase_if(own, [](const CandidateFence& each) { return !each.is_own(); });
    result_.as_it_is = runs_.rate_of(options_.iterations, with_fences({}, own, all_));
    result_.end = find_stable();
    if (options_.measures_cost && !result_.kept.empty()) {
      measure_cost(own);
    }
    for (const CandidateFence& each : own) {
      if (std::ranges::find(result_.kept, each) == result_.kept.end()) {
        result_.left_out_own.push_back(each);
      }
    }
  }

  void measure_cost(const Fences& own) {
    tell_("what fences cost");
    const std::vector<std::pair<std::string, Fences>> all = {
        {"none", {}}, {"its own", own}, {"all", all_}, {"reduced", result_.kept}};
    std::vector<std::vector<Outcome>> outcomes(all.size());
    // In turn, so that a device that slows down does so for all of them.
    for (std::uint64_t run = 0; run < cost_runs(); ++run) {
      std::vector<Settings> round;
      for (const auto& [name, fences] : all) {
        round.push_back(with_fences({}, fences, all_));
        round.back().seed = options_.first_seed + run;
        round.back().wants_counts = true;
      }
      for (std::size_t i = 0; i < round.size() && !trials_.is_over(); ++i) {
        outcomes[i].push_back(trials_.make_one(round[i]));
      }
    }
    if (trials_.is_over()) {
      return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      result_.costs.push_back(middle_cost(all[i].first, std::move(outcomes[i])));
    }
  }

  [[nodiscard]] std::uint64_t cost_runs() const {
    return options_.is_repeatable ? kCostRuns : kTimedRuns;
  }

  // Loops that wait go round as often as the schedule has it: the middle one of some.
  static FenceCost middle_cost(const std::string& fences, std::vector<Outcome> outcomes) {
    FenceCost cost{.fences = fences, .counts = {}, .time = {}};
    std::erase_if(outcomes, [](const Outcome& outcome) { return !outcome.lost.empty(); });
    if (outcomes.empty()) {
      return cost;
    }
    const auto middle_by = [&](const auto& value) -> const Outcome& {
      const auto middle = outcomes.begin() + static_cast<std::ptrdiff_t>(outcomes.size() / 2);
      std::ranges::nth_element(outcomes, middle, {}, value);
      return *middle;
    };
    cost.counts =
        middle_by([](const Outcome& each) { return each.counts.warp_instructions; }).counts;
    cost.time = middle_by([](const Outcome& each) { return each.time.nanoseconds; }).time;
    const Outcome& energy = middle_by([](const Outcome& each) { return each.time.millijoules; });
    cost.time.millijoules = energy.time.millijoules;
    cost.time.no_energy = energy.time.no_energy;
    return cost;
  }

  // Those in which the program fails most without any fence.
  void choose_environments() {
    tell_("without any fence, in all environments in turn");
    const std::vector<Environment>& all = runs_.environments();
    for (const Environment& each : all) {
      result_.environments.push_back({.name = each.name, .rate = {}});
    }
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i < kMostProbes && most == 0 && !trials_.is_over(); i += kProbes) {
      const std::vector<Rate> rates = runs_.rates_of(kProbes, with_fences({}, {}, all_));
      for (std::size_t at = 0; at < rates.size(); ++at) {
        Rate& rate = result_.environments[at].rate;
        rate.runs += rates[at].runs;
        rate.failures += rates[at].failures;
        most = std::max(most, rate.failures);
      }
    }
    if (most == 0) {
      return;  // none is better than the others
    }
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(), [this](std::size_t at) {
      return result_.environments[at].rate.failures;
    });
    std::vector<Environment> chosen;
    Rate together;
    for (const std::size_t at : order) {
      const Rate& rate = result_.environments[at].rate;
      if (rate.failures * 2 >= most && chosen.size() < kMostChosen) {
        chosen.push_back(all[at]);
        result_.chosen.push_back(all[at].name);
        together.runs += rate.runs;
        together.failures += rate.failures;
      }
    }
    least_iterations_ = runs_to_see(together, kMostIterations);
    runs_.choose(std::move(chosen));
  }

  // Whatever has fewer fences than what has failed once need not be tried: PTX allows it that
  // failure, too.
  bool passes(const Fences& kept, std::uint64_t runs) {
    const bool is_known = std::ranges::any_of(failed_, [&kept](const Fences& failed) {
      return std::ranges::all_of(kept, [&failed](const CandidateFence& each) {
        return std::ranges::find(failed, each) != failed.end();
      });
    });
    if (is_known) {
      answer_ = FenceRuns::Answer::kFail;
      return false;
    }
    answer_ = runs_.ask(runs, with_fences({}, kept, all_));
    // A run that took too long beside others may say nothing of the program.
    const bool is_sure = options_.is_repeatable || runs_.last_failure() != Failure::kHang;
    if (answer_ == FenceRuns::Answer::kFail && is_sure) {
      failed_.push_back(kept);
    }
    return answer_ == FenceRuns::Answer::kPass;
  }

  HardeningResult::End find_stable() {
    using End = HardeningResult::End;
    result_.kept = all_;
    for (std::uint64_t runs = std::max(options_.iterations, least_iterations_); !trials_.is_over();
         runs *= 2) {
      result_.iterations = runs;
      tell_(fmt::format("with all of {} fences", all_.size()));
      if (!passes(all_, runs)) {
        return answer_ == FenceRuns::Answer::kUnknown ? End::kIncomplete : End::kNotCured;
      }
      // Where loads are stale, readers need fences, too.
      const bool is_of_stores = options_.stores_only || !options_.is_repeatable;
      const Stays stays = is_of_stores ? Stays::kFirst : Stays::kLast;
      Fences kept = reduced(all_, stays, [&](const Fences& some) {
        tell_(fmt::format("with {} of {} fences", some.size(), all_.size()));
        return passes(some, runs);
      });
      kept = weakened(std::move(kept), runs);
      result_.kept = kept;
      if (trials_.is_over()) {
        return End::kIncomplete;
      }
      tell_(fmt::format("with {} of {} fences, is it stable", kept.size(), all_.size()));
      if (passes(kept, options_.stable)) {
        result_.stable_runs = options_.stable;
        return End::kReduced;
      }
      if (runs > options_.stable) {
        break;  // it failed in no fewer runs before: the time is over, or runs do not repeat
      }
    }
    return End::kIncomplete;
  }

  // Those to be added as weak and, where that shows, as narrow as they can be. What is stale is not
  // any more behind a fence of any scope on the emulated device, so that only stores show scopes.
  Fences weakened(Fences kept, std::uint64_t runs) {
    const auto make_weaker = [](ptx::Fence& fence) { fence.order = wire::MemoryOrder::kAcqRel; };
    Fences weaker = kept;
    for (CandidateFence& each : weaker) {
      change_added(each, make_weaker);
    }
    if (weaker != kept && passes(weaker, runs)) {
      kept = std::move(weaker);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      try_change(kept, i, make_weaker, runs);
      if (options_.stores_only && options_.is_repeatable) {
        try_change(kept, i, [](ptx::Fence& fence) { fence.scope = wire::Scope::kCta; }, runs);
      }
    }
    return kept;
  }

  template <typename Change>
  static void change_added(CandidateFence& candidate, const Change& change) {
    for (Fence& fence : candidate.added) {
      change(fence.fence);
    }
  }

  // Unless a run fails then.
  template <typename Change>
  void try_change(Fences& kept, std::size_t which, const Change& change, std::uint64_t runs) {
    const CandidateFence before = kept[which];
    change_added(kept[which], change);
    if (kept[which] != before && !passes(kept, runs)) {
      kept[which] = before;
    }
  }

  const HardeningOptions& options_;
  Trials& trials_;
  const TellStage& tell_;
  FenceRuns runs_;
  Fences all_;
  std::vector<Fences> failed_;                              // what some run has failed with
  FenceRuns::Answer answer_ = FenceRuns::Answer::kUnknown;  // the last
  std::uint64_t least_iterations_ = 0;
  HardeningResult result_;
};

}  // namespace

HardeningResult harden(const HardeningOptions& options, Trials& trials, const TellStage& tell) {
  return Hardening(options, trials, tell).run();
}

}  // namespace barracuda::weak_memory
