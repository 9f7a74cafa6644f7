// What tells the states of a model apart, and how much may be kept of them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/search_end.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

// Threads that are one another's likes, in groups (identical_threads()).
using Groups = std::vector<std::vector<std::size_t>>;

// The state's key: its bytes, or 16 bytes of hash; of 10^9 states two have the same hash with a
// probability below 10^-20. With groups, states in which alike threads have changed places have one
// key.
template <typename Model>
std::string key_of(const Model& model, const typename Model::State& state, std::size_t threads,
                   const Groups& groups, bool exact) {
  std::vector<StateBytes> parts(threads);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    model.encode(state, thread, parts[thread]);
  }
  for (const auto& group : groups) {
    std::vector<StateBytes> alike;
    for (const std::size_t thread : group) {
      alike.push_back(std::move(parts[thread]));
    }
    std::ranges::sort(alike);
    for (std::size_t i = 0; i < group.size(); ++i) {
      parts[group[i]] = std::move(alike[i]);
    }
  }
  StateBytes all;
  for (const StateBytes& part : parts) {
    all.add(part);
  }
  model.encode_rest(state, all);
  std::string bytes = std::move(all).take();
  if (exact) {
    return bytes;
  }
  const Hash128 hash = hash128(bytes);
  return {reinterpret_cast<const char*>(&hash), sizeof hash};
}

class StateBounds {
 public:
  explicit StateBounds(const ExploreOptions& options) : options_(options) {}

  // The bound that `states` states of `bytes` bytes have hit, or empty.
  [[nodiscard]] std::string hit(std::uint64_t states, std::uint64_t bytes) const {
    if (states >= options_.states) {
      return std::to_string(options_.states) + " states";
    }
    if (bytes >> 20U >= options_.memory_mib) {
      return std::to_string(options_.memory_mib) + " MiB";
    }
    return states % kStatesBetweenClocks == 0 ? end_.bound() : "";
  }

 private:
  static constexpr std::uint64_t kStatesBetweenClocks = 1024;

  const ExploreOptions& options_;
  SearchEnd end_{options_};
};

}  // namespace barracuda::memory_model
