#include "weak_memory/trials.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::weak_memory {
namespace {

std::vector<Settings> with_seeds(const Settings& settings,
                                 const std::vector<std::uint64_t>& seeds) {
  std::vector<Settings> all(seeds.size(), settings);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    all[i].seed = seeds[i];
  }
  return all;
}

}  // namespace

std::vector<Outcome> Trials::make(const std::vector<Settings>& all) {
  std::vector<Outcome> outcomes = run_(all);
  ASSERT(outcomes.size() == all.size());
  for (const Outcome& outcome : outcomes) {
    ++(outcome.lost.empty() ? made_ : lost_);
    if (reason_of_loss_.empty()) {
      reason_of_loss_ = outcome.lost;
    }
  }
  return outcomes;
}

Outcome Trials::make_one(const Settings& settings) {
  return std::move(make({settings}).front());
}

Failure Trials::judge(const Outcome& outcome) const {
  return outcome.lost.empty() ? oracle_.judge(outcome) : Failure::kNone;
}

std::optional<Trials::Failing> Trials::first_failing(const std::vector<Settings>& all) {
  for (std::size_t begin = 0; begin < all.size() && !is_over(); begin += at_once_) {
    const std::size_t end = std::min(begin + at_once_, all.size());
    std::vector<Outcome> outcomes = make({all.begin() + static_cast<std::ptrdiff_t>(begin),
                                          all.begin() + static_cast<std::ptrdiff_t>(end)});
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (const Failure failure = judge(outcomes[i]); failure != Failure::kNone) {
        return Failing{.number = begin + i, .failure = failure, .outcome = std::move(outcomes[i])};
      }
    }
  }
  return std::nullopt;
}

std::optional<Trials::Failing> Trials::first_failing_alone(const std::vector<Settings>& all) {
  ASSERT(!all.empty());
  auto failing = first_failing({all.front()});
  if (!failing) {
    failing = first_failing({all.begin() + 1, all.end()});
    if (failing) {
      ++failing->number;
    }
  }
  return failing;
}

std::optional<std::uint64_t> Trials::failing_seed(const Settings& settings,
                                                  std::vector<std::uint64_t>& seeds) {
  const auto failing = first_failing_alone(with_seeds(settings, seeds));
  if (!failing) {
    return std::nullopt;
  }
  ASSERT(failing->number < seeds.size());
  const auto at = seeds.begin() + static_cast<std::ptrdiff_t>(failing->number);
  std::rotate(seeds.begin(), at, at + 1);
  return seeds.front();
}

Rate Trials::rate_of(const Settings& settings, const std::vector<std::uint64_t>& seeds) {
  return rate_of(with_seeds(settings, seeds), oracle_);
}

Rate Trials::rate_of(const std::vector<Settings>& all, const Oracle& oracle) {
  return rates_of(all, oracle, 1).front();
}

std::vector<Rate> Trials::rates_of(const std::vector<Settings>& all, const Oracle& oracle,
                                   std::size_t kinds) {
  ASSERT(kinds != 0 && all.size() % kinds == 0);
  std::vector<Rate> rates(kinds);
  for (std::size_t begin = 0; begin < all.size() && !is_over(); begin += at_once_) {
    const std::size_t end = std::min(begin + at_once_, all.size());
    const std::vector<Outcome> outcomes = make({all.begin() + static_cast<std::ptrdiff_t>(begin),
                                                all.begin() + static_cast<std::ptrdiff_t>(end)});
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].lost.empty()) {
        Rate& rate = rates[(begin + i) % kinds];
        ++rate.runs;
        rate.failures += oracle.judge(outcomes[i]) != Failure::kNone ? 1 : 0;
      }
    }
  }
  return rates;
}

}  // namespace barracuda::weak_memory
