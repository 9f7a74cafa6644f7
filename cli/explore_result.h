// What `barracuda explore` says of one test under one model: its verdict, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weak_memory/litmus.h"

namespace barracuda::cli {

// kFinals: how it may end, without a condition.
enum class ExploreQuestion : std::uint8_t { kCondition, kEnd, kRace, kFinals };

struct ExploreResult {
  std::string file;
  memory_model::LitmusTest test;
  memory_model::Model model = memory_model::Model::kPtx75;
  memory_model::Exploration found;
  ExploreQuestion asked = ExploreQuestion::kCondition;
  std::string kernel;  // what is said of a kernel's threads; empty: no kernel

  // A final that decides does so even where a bound ended the search.
  [[nodiscard]] bool is_decided() const;
  [[nodiscard]] bool holds() const;
  // Null: nothing was found that decides.
  [[nodiscard]] const memory_model::Witness* witness() const;
};

// `looks_for_races`: besides what it asks.
std::string result_text(const ExploreResult& result, bool looks_for_races);
// A line of JSON Lines.
std::string json_line_of(const ExploreResult& result);
// The results of one test under several models; a model that refuses it has none.
std::string results_text(const std::vector<memory_model::Model>& models,
                         const std::vector<ExploreResult>& results);

}  // namespace barracuda::cli
