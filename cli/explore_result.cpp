#include "cli/explore_result.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/coverage.h"
#include "report/json_writer.h"

namespace barracuda::cli {
namespace {

using memory_model::Quantifier;
using memory_model::Witness;

const std::pair<const memory_model::Final, Witness>* deciding(const ExploreResult& result) {
  return memory_model::deciding_final(result.test, result.found);
}

std::string question_of(const ExploreResult& result) {
  switch (result.asked) {
    case ExploreQuestion::kEnd:
      return "always ends";
    case ExploreQuestion::kRace:
      return "data race";
    case ExploreQuestion::kFinals:
      return "how it may end";
    case ExploreQuestion::kCondition:
      break;
  }
  return memory_model::question_text(result.test);
}

std::string verdict_of(const ExploreResult& result) {
  return !result.is_decided() ? "unknown" : result.holds() ? "holds" : "does not hold";
}

std::string answer_text(const ExploreResult& result) {
  if (result.asked == ExploreQuestion::kEnd) {
    return result.found.violation       ? "no, it may go on for ever"
           : result.found.is_complete() ? "yes"
                                        : "no endless execution found within " + result.found.bound;
  }
  if (result.found.violation) {
    return "violated";
  }
  const bool is_forall = result.test.quantifier == Quantifier::kForall;
  if (deciding(result) != nullptr) {
    return is_forall ? "not always" : "reachable";
  }
  if (!result.found.is_complete()) {
    return (is_forall ? "no counterexample within " : "not found within ") + result.found.bound;
  }
  return is_forall ? "always" : "not reachable";
}

// Which axiom has ended most, where executions were sought and none was there.
std::string reason_text(const ExploreResult& result) {
  if (memory_model::has_states(result.model) || result.witness() != nullptr) {
    return "";
  }
  const auto most = std::ranges::max_element(result.found.killed);
  if (*most == 0) {
    return "";
  }
  const auto axiom = static_cast<memory_model::Axiom>(most - result.found.killed.begin());
  return fmt::format("  of the candidates that an axiom forbids, most: {} ({})\n",
                     memory_model::name_of(axiom), *most);
}

std::string race_answer(const ExploreResult& result) {
  return result.found.race            ? "reachable: " + result.found.race->lines.front()
         : result.found.is_complete() ? "not reachable"
                                      : "not found within " + result.found.bound;
}

std::string searched_text(const ExploreResult& result) {
  return report::counted(result.found.states,
                         memory_model::has_states(result.model) ? "state" : "candidate execution");
}

std::string outcomes_text(const ExploreResult& result) {
  const auto terms = memory_model::terms_shown(result.test);
  const bool marks = result.test.quantifier != Quantifier::kForall;
  std::string text;
  for (const auto& [shown, outcome] : memory_model::shown_outcomes(result.test, result.found)) {
    const bool is_sought =
        result.asked == ExploreQuestion::kCondition && outcome.meets_condition == marks;
    text += fmt::format("{} {}\n", is_sought ? '*' : ' ',
                        memory_model::shown_text(result.test, terms, shown));
  }
  return text;
}

using Json = nlohmann::ordered_json;

Json value_json(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

bool ExploreResult::is_decided() const {
  return found.is_complete() || witness() != nullptr;
}

bool ExploreResult::holds() const {
  return asked == ExploreQuestion::kEnd    ? !found.violation
         : asked == ExploreQuestion::kRace ? found.race.has_value()
                                           : memory_model::condition_holds(test, found);
}

const Witness* ExploreResult::witness() const {
  if (found.violation) {
    return &*found.violation;
  }
  if (asked == ExploreQuestion::kRace || (asked == ExploreQuestion::kFinals && found.race)) {
    return found.race ? &*found.race : nullptr;
  }
  const auto* const final = asked == ExploreQuestion::kEnd ? nullptr : deciding(*this);
  return final == nullptr ? nullptr : &final->second;
}

std::string result_text(const ExploreResult& result, bool looks_for_races) {
  // How it ends is not asked with every question.
  const bool asks_of_outcomes =
      result.asked == ExploreQuestion::kCondition || result.asked == ExploreQuestion::kFinals;
  const std::size_t outcomes = memory_model::shown_outcomes(result.test, result.found).size();
  const std::string how_many =
      result.asked == ExploreQuestion::kEnd ? "" : report::counted(outcomes, "outcome") + ", ";
  std::string text =
      fmt::format("{}: model {}, {}{}\n", result.file, memory_model::name_of(result.model),
                  how_many, searched_text(result));
  for (const std::string& name : result.test.undeclared) {
    text += fmt::format("  '{}' is not declared: a location that begins as 0\n", name);
  }
  text += result.kernel;
  text += asks_of_outcomes ? outcomes_text(result) : "";
  text += looks_for_races ? fmt::format("  data race: {}\n", race_answer(result)) : "";
  if (result.asked == ExploreQuestion::kCondition || result.asked == ExploreQuestion::kEnd) {
    text += fmt::format("  {}: {}\n", question_of(result), answer_text(result));
  }
  if (result.test.always) {
    text += fmt::format("  always {}: {}\n",
                        memory_model::condition_text(result.test, *result.test.always),
                        result.found.violation ? "violated" : "kept");
  }
  text += reason_text(result);
  if (const Witness* const witness = result.witness()) {
    text += "  witness:\n";
    for (const std::string& line : witness->lines) {
      text += "    " + line + '\n';
    }
  }
  if (!result.found.is_complete()) {
    text += fmt::format("  incomplete: the search ended at {}\n", result.found.bound);
  }
  return text;
}

std::string json_line_of(const ExploreResult& result) {
  const auto terms = memory_model::terms_shown(result.test);
  Json outcomes = Json::array();
  for (const auto& [shown, outcome] : memory_model::shown_outcomes(result.test, result.found)) {
    Json registers = Json::object();
    Json memory = Json::object();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Json& place = terms[i].kind == memory_model::Term::Kind::kRegister ? registers : memory;
      place[memory_model::term_text(result.test, terms[i])] = value_json(shown[i]);
    }
    outcomes.push_back(
        {{"registers", registers}, {"memory", memory}, {"count", nullptr}, {"allowed", true}});
  }
  Json witness = nullptr;
  if (const Witness* const lines = result.witness()) {
    witness = lines->lines;
  }
  const Json line = {{"schema", report::kJsonSchema},
                     {"type", "litmus-result"},
                     {"severity", nullptr},
                     {"test", result.test.name},
                     {"file", result.file},
                     {"device", nullptr},
                     {"model", std::string(memory_model::name_of(result.model))},
                     {"condition", question_of(result)},
                     {"verdict", verdict_of(result)},
                     {"outcomes", std::move(outcomes)},
                     {"states", result.found.states},
                     {"complete", result.found.is_complete()},
                     {"witness", std::move(witness)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string results_text(const std::vector<memory_model::Model>& models,
                         const std::vector<ExploreResult>& results) {
  std::vector<memory_model::NamedExploration> columns;
  for (const memory_model::Model model : models) {
    const auto found = std::ranges::find(results, model, &ExploreResult::model);
    columns.push_back({.model = std::string(memory_model::name_of(model)),
                       .found = found == results.end() ? nullptr : &found->found});
  }
  const ExploreResult& first = results.front();
  std::string text = first.file + ": " + question_of(first) + '\n';
  text += first.asked == ExploreQuestion::kEnd || first.asked == ExploreQuestion::kRace
              ? ""
              : memory_model::comparison_text(first.test, columns);
  for (const ExploreResult& result : results) {
    text += fmt::format("  {}: {}\n", memory_model::name_of(result.model),
                        result.asked == ExploreQuestion::kRace     ? race_answer(result)
                        : result.asked == ExploreQuestion::kFinals ? searched_text(result)
                                                                   : answer_text(result));
  }
  return text;
}

}  // namespace barracuda::cli
