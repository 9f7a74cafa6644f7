// Which accesses of a run are a race's, and what the model says of each such pair.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weak_memory/slice/litmus_slice.h"

namespace barracuda::weak_memory {

struct PairQuestion {
  std::string first, second;  // FUNCTION#ORDINAL, in the order in which they are made
  // Of these threads alone, if they are given.
  std::optional<std::pair<ThreadPlace, ThreadPlace>> threads;
};

inline constexpr std::size_t kMostPairs = 8;

// Of overlapping bytes by two threads: for each second access the last first one before it, the
// earliest pairs of the run, kMostPairs at most.
std::vector<AccessPair> pairs_of(const History& history, const PairQuestion& question);

struct PairAnswer {
  std::optional<LitmusSlice> slice;
  bool is_racy = false;
  std::string why_not;  // there is no slice, or its answer says nothing
};

// Of several slices, which differ in the threads between the two accesses, one without a race
// decides: what a slice leaves out can only order more.
PairAnswer answer_for(const History& history, const Handovers& handovers, const AccessPair& pair);

}  // namespace barracuda::weak_memory
