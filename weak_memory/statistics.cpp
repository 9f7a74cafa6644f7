#include "weak_memory/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace barracuda::weak_memory {
namespace {

// Of the number of ways to choose.
double log_of_choices(std::uint64_t of, std::uint64_t chosen) {
  const auto log_factorial = [](std::uint64_t number) {
    return std::lgamma(static_cast<double>(number) + 1);
  };
  return log_factorial(of) - log_factorial(chosen) - log_factorial(of - chosen);
}

}  // namespace

double chance_of(const Rate& with, const Rate& without) {
  ASSERT(with.failures <= with.runs && without.failures <= without.runs);
  if (with.runs == 0 || without.runs == 0) {
    return 1;
  }
  const std::uint64_t failures = with.failures + without.failures;
  const std::uint64_t runs = with.runs + without.runs;
  double chance = 0;
  for (std::uint64_t more = with.failures; more <= std::min(failures, with.runs); ++more) {
    if (failures - more <= without.runs) {
      chance +=
          std::exp(log_of_choices(with.runs, more) + log_of_choices(without.runs, failures - more) -
                   log_of_choices(runs, failures));
    }
  }
  return std::min(chance, 1.0);
}

Interval confidence_of(const Rate& rate) {
  ASSERT(rate.failures <= rate.runs);
  if (rate.runs == 0) {
    return {};
  }
  constexpr double kDeviations = 1.959964;  // of a normal distribution, for 95 %
  constexpr double kSquare = kDeviations * kDeviations;
  const auto runs = static_cast<double>(rate.runs);
  const double share = static_cast<double>(rate.failures) / runs;
  const double middle = share + kSquare / (2 * runs);
  const double spread =
      kDeviations * std::sqrt(share * (1 - share) / runs + kSquare / (4 * runs * runs));
  const double whole = 1 + kSquare / runs;
  return {.least = std::max((middle - spread) / whole, 0.0),
          .most = std::min((middle + spread) / whole, 1.0)};
}

std::uint64_t runs_to_see(const Rate& rate, std::uint64_t most) {
  if (rate.failures == 0) {
    return most;
  }
  constexpr double kMiss = 0.01;
  const double passes = 1 - static_cast<double>(rate.failures) / static_cast<double>(rate.runs);
  if (passes <= 0) {
    return std::min<std::uint64_t>(1, most);
  }
  const double runs = std::ceil(std::log(kMiss) / std::log(passes));
  return runs < static_cast<double>(most) ? static_cast<std::uint64_t>(runs) : most;
}

}  // namespace barracuda::weak_memory
