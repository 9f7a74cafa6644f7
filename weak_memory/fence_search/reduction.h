// The fences that experiments cannot do without (Sorensen, Donaldson: Exposing Errors Related to
// Weak Memory in GPU Applications, algorithm 1): from a fence behind every access and the
// program's own, those are left out without which no run fails.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ptx/fence_places.h"
#include "weak_memory/experiment.h"

namespace barracuda::weak_memory {

// What is kept or left out as one: the fences of one source place, for they are written or deleted
// there at once. Either those to be added behind its accesses or those that the program has.
struct CandidateFence {
  std::vector<Fence> added;
  std::vector<ptx::OwnFence> own;

  [[nodiscard]] bool is_own() const { return !own.empty(); }

  friend bool operator==(const CandidateFence&, const CandidateFence&) = default;
};

// One behind each place, as strong as its memory asks for, but where the program has one that is as
// strong already; then the program's own. So of two that would do, its own one is kept.
std::vector<CandidateFence> candidate_fences(const ptx::ModuleFences& fences);

// The settings with these fences and no other of `all`.
Settings with_fences(Settings settings, const std::vector<CandidateFence>& kept,
                     const std::vector<CandidateFence>& all);

// Whether no run fails with these fences alone.
using Passes = std::function<bool(const std::vector<CandidateFence>&)>;

// Which of several stays where one of them would do; of the program's own and of one that would be
// added always its own.
enum class Stays : std::uint8_t {
  // Right behind the store that it guards. One behind the flag, where it belongs before it, fails
  // so seldom that no run may show it: what is late has little time.
  kFirst,
  // Right before the load that it guards. One before the flag is read, where it belongs behind
  // that,
  // fails as seldom.
  kLast,
};

// A part of `all` that passes, in the order of `all`: without any single one of it that does not
// hold, if to pass with fewer fences is to pass with more. `all` passes. Halves are left out first,
// then quarters, single ones last: the paper's binary and its linear reduction, with the steps
// between them.
std::vector<CandidateFence> reduced(std::vector<CandidateFence> all, Stays stays,
                                    const Passes& passes);

}  // namespace barracuda::weak_memory
