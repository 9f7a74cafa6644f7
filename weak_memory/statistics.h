// Whether two failure rates differ by more than chance.
#pragma once

#include <cstdint>

namespace barracuda::weak_memory {

struct Rate {
  std::uint64_t failures = 0, runs = 0;
};

// Fisher's exact test, one-sided: how likely `with` has at least that many failures if runs of both
// kinds fail alike. 1 where either has no runs.
double chance_of(const Rate& with, const Rate& without);

// Between what the true rate lies with 95 % confidence, as shares of 1 (Wilson's score interval).
// Everything is possible where nothing was run.
struct Interval {
  double least = 0, most = 1;
};

Interval confidence_of(const Rate& rate);

// So many runs of what fails at this rate that all of them pass with a chance of less than 1 %; at
// most `most`.
std::uint64_t runs_to_see(const Rate& rate, std::uint64_t most);

}  // namespace barracuda::weak_memory
