#include "weak_memory/memory_model/comparison.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::memory_model {
namespace {

void add_new(std::vector<Term>& terms, const std::vector<Term>& more) {
  for (const Term& term : more) {
    if (std::ranges::find(terms, term) == terms.end()) {
      terms.push_back(term);
    }
  }
}

std::vector<Term> all_registers(const LitmusTest& test) {
  std::vector<Term> terms;
  for (std::uint32_t thread = 0; thread < test.registers.size(); ++thread) {
    for (std::uint32_t i = 0; i < test.registers[thread].size(); ++i) {
      terms.push_back({.kind = Term::Kind::kRegister, .thread = thread, .number = i});
    }
  }
  return terms;
}

using Outcomes = std::map<Shown, ShownOutcome>;

std::string difference_text(const LitmusTest& test, const std::vector<Term>& terms,
                            const NamedExploration& one, const NamedExploration& other,
                            const Outcomes& of_one, const Outcomes& of_other) {
  std::vector<std::string> only;
  for (const auto& [shown, outcome] : of_one) {
    if (!of_other.contains(shown)) {
      only.push_back(shown_text(test, terms, shown));
    }
  }
  return only.empty() ? ""
                      : fmt::format("  {} allows and {} does not: {}\n", one.model, other.model,
                                    fmt::join(only, "; "));
}

}  // namespace

std::vector<Term> terms_shown(const LitmusTest& test) {
  std::vector<Term> terms = terms_of(test.condition);
  if (test.filter) {
    add_new(terms, terms_of(*test.filter));
  }
  add_new(terms, test.shown);
  if (terms.empty()) {
    terms = all_registers(test);
  }
  std::ranges::sort(terms);
  return terms;
}

std::map<Shown, ShownOutcome> shown_outcomes(const LitmusTest& test, const Exploration& found) {
  const auto first = first_registers(test.program);
  const std::vector<Term> terms = terms_shown(test);
  Outcomes outcomes;
  for (const auto& [final, witness] : found.finals) {
    if (test.filter && !holds(*test.filter, first, final)) {
      continue;
    }
    Shown shown;
    for (const Term& term : terms) {
      shown.push_back(value_of(term, first, final));
    }
    outcomes.try_emplace(
        std::move(shown),
        ShownOutcome{.final = final, .meets_condition = holds(test.condition, first, final)});
  }
  return outcomes;
}

std::string shown_text(const LitmusTest& test, const std::vector<Term>& terms,
                       const Shown& values) {
  std::vector<std::string> parts;
  parts.reserve(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    parts.push_back(
        fmt::format("{}={}", term_text(test, terms[i]), static_cast<std::int64_t>(values[i])));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string comparison_text(const LitmusTest& test, const std::vector<NamedExploration>& models) {
  const std::vector<Term> terms = terms_shown(test);
  std::vector<Outcomes> outcomes;
  std::set<Shown> all;
  std::size_t width = 0;
  for (const NamedExploration& model : models) {
    outcomes.push_back(model.found == nullptr ? Outcomes() : shown_outcomes(test, *model.found));
    for (const auto& [shown, outcome] : outcomes.back()) {
      all.insert(shown);
      width = std::max(width, shown_text(test, terms, shown).size());
    }
  }
  const bool asks = test.condition.kind != Condition::Kind::kTrue;
  std::string text = fmt::format("  {:<{}}", "", width);
  for (const NamedExploration& model : models) {
    text += "  " + model.model;
  }
  text += '\n';
  for (const Shown& shown : all) {
    text += fmt::format("  {:<{}}", shown_text(test, terms, shown), width);
    for (std::size_t i = 0; i < models.size(); ++i) {
      const auto outcome = outcomes[i].find(shown);
      const std::string_view word = models[i].found == nullptr                ? "?"
                                    : outcome == outcomes[i].end()            ? "-"
                                    : asks && outcome->second.meets_condition ? "yes *"
                                                                              : "yes";
      text += fmt::format("  {:<{}}", word, models[i].model.size());
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  for (std::size_t i = 0; i + 1 < models.size(); ++i) {
    if (models[i].found != nullptr && models[i + 1].found != nullptr) {
      text += difference_text(test, terms, models[i], models[i + 1], outcomes[i], outcomes[i + 1]);
      text += difference_text(test, terms, models[i + 1], models[i], outcomes[i + 1], outcomes[i]);
    }
  }
  return text;
}

}  // namespace barracuda::memory_model
