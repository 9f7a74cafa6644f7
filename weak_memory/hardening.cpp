#include "weak_memory/hardening.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace barracuda::weak_memory {
namespace {

constexpr double kStaleShare = 0.5;
constexpr std::uint64_t kCostRuns = 5;

// The runs behind every answer: each has a seed and a weakness of its own. One that has failed once
// is made first from then on, so that most answers take one run.
class Runs {
 public:
  Runs(const HardeningOptions& options, Trials& trials) : options_(options), trials_(trials) {}

  // Whether none of the first `count` fails with the fences of `settings`, nor any that has failed
  // before. False once the time is over, so that nothing is left out for want of runs.
  bool pass(std::uint64_t count, const Settings& fences) {
    std::vector<std::uint64_t> numbers = failing_;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (std::ranges::find(failing_, i) == failing_.end()) {
        numbers.push_back(i);
      }
    }
    return !failing_one(numbers, fences) && !trials_.is_over();
  }

  // How often the first `count` fail.
  Rate rate_of(std::uint64_t count, const Settings& fences) {
    std::vector<Settings> all;
    for (std::uint64_t i = 0; i < count; ++i) {
      all.push_back(settings_of(i, fences));
    }
    return trials_.rate_of(all, trials_.oracle());
  }

  [[nodiscard]] Failure first_failure() const { return first_failure_; }

 private:
  [[nodiscard]] Settings settings_of(std::uint64_t number, const Settings& fences) const {
    Settings settings = fences;
    settings.seed = options_.first_seed + number;
    settings.weakness.stores = options_.probabilities[number % options_.probabilities.size()];
    // Every other round of the probabilities; a store that is late shows most by itself.
    if (!options_.stores_only && number / options_.probabilities.size() % 2 == 1) {
      settings.weakness.stale_reads = kStaleShare;
      settings.weakness.late_loads = kStaleShare;
    }
    return settings;
  }

  bool failing_one(const std::vector<std::uint64_t>& numbers, const Settings& fences) {
    std::vector<Settings> all;
    for (const std::uint64_t number : numbers) {
      all.push_back(settings_of(number, fences));
    }
    const auto failing = all.empty() ? std::nullopt : trials_.first_failing_alone(all);
    if (!failing) {
      return false;
    }
    const std::uint64_t number = numbers[failing->number];
    if (first_failure_ == Failure::kNone) {
      first_failure_ = failing->failure;
    }
    std::erase(failing_, number);
    failing_.insert(failing_.begin(), number);
    return true;
  }

  const HardeningOptions& options_;
  Trials& trials_;
  std::vector<std::uint64_t> failing_;  // the last that failed first
  Failure first_failure_ = Failure::kNone;
};

class Hardening {
 public:
  Hardening(const HardeningOptions& options, Trials& trials, const TellStage& tell)
      : options_(options), trials_(trials), tell_(tell), runs_(options, trials) {}

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
    for (const auto& [name, fences] :
         {std::pair("none", Fences()), std::pair("its own", own), std::pair("all", all_),
          std::pair("reduced", result_.kept)}) {
      if (trials_.is_over()) {
        result_.costs.clear();
        return;
      }
      result_.costs.push_back({.fences = name, .counts = counts_with(fences)});
    }
  }

  // Loops that wait go round as often as the schedule has it: the middle one of some.
  emulator::ExecutionCounts counts_with(const Fences& fences) {
    std::vector<Settings> all;
    for (std::uint64_t i = 0; i < kCostRuns; ++i) {
      Settings settings = with_fences({}, fences, all_);
      settings.seed = options_.first_seed + i;
      settings.wants_counts = true;
      all.push_back(std::move(settings));
    }
    std::vector<emulator::ExecutionCounts> counts;
    for (const Outcome& outcome : trials_.make(all)) {
      if (outcome.lost.empty()) {
        counts.push_back(outcome.counts);
      }
    }
    if (counts.empty()) {
      return {};
    }
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::ranges::nth_element(counts, middle, {}, &emulator::ExecutionCounts::warp_instructions);
    return *middle;
  }

  bool passes(const Fences& kept, std::uint64_t runs) {
    return runs_.pass(runs, with_fences({}, kept, all_));
  }

  HardeningResult::End find_stable() {
    using End = HardeningResult::End;
    result_.kept = all_;
    for (std::uint64_t runs = options_.iterations; !trials_.is_over(); runs *= 2) {
      result_.iterations = runs;
      tell_(fmt::format("with all of {} fences", all_.size()));
      if (!passes(all_, runs)) {
        return trials_.is_over() ? End::kIncomplete : End::kNotCured;
      }
      Fences kept = reduced(all_, [&](const Fences& some) {
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
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto try_it = [&](const auto& change) {
        const CandidateFence before = kept[i];
        for (Fence& fence : kept[i].added) {
          change(fence.fence);
        }
        if (kept[i] != before && !passes(kept, runs)) {
          kept[i] = before;
        }
      };
      try_it([](ptx::Fence& fence) { fence.order = wire::MemoryOrder::kAcqRel; });
      if (options_.stores_only) {
        try_it([](ptx::Fence& fence) { fence.scope = wire::Scope::kCta; });
      }
    }
    return kept;
  }

  const HardeningOptions& options_;
  Trials& trials_;
  const TellStage& tell_;
  Runs runs_;
  Fences all_;
  HardeningResult result_;
};

}  // namespace

HardeningResult harden(const HardeningOptions& options, Trials& trials, const TellStage& tell) {
  return Hardening(options, trials, tell).run();
}

}  // namespace barracuda::weak_memory
