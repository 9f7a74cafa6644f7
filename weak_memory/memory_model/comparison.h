// What a test's executions end with, in the words of the test, and how models differ in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

// What is printed of a final state: the registers and locations that the test names, or all
// registers where it names none.
std::vector<Term> terms_shown(const LitmusTest& test);

// Their values in one final.
using Shown = std::vector<std::uint64_t>;

struct ShownOutcome {
  Final final;  // one of those that show it
  bool meets_condition = false;
};

// The different ones among the finals that the filter lets pass.
std::map<Shown, ShownOutcome> shown_outcomes(const LitmusTest& test, const Exploration& found);

// "P1:r1=0 x=1".
std::string shown_text(const LitmusTest& test, const std::vector<Term>& terms, const Shown& values);

// Outcomes by models: a row an outcome, a column a model, and for each two models beside each other
// what one allows and the other does not.
struct NamedExploration {
  std::string model;
  const Exploration* found = nullptr;  // null: the model cannot take the test
};

std::string comparison_text(const LitmusTest& test, const std::vector<NamedExploration>& models);

}  // namespace barracuda::memory_model
