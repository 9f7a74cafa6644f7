#include "weak_memory/memory_model/litmus_condition.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::memory_model {
namespace {

void add_terms(const Condition& condition, std::vector<Term>& terms) {
  for (const Term& term : {condition.left, condition.right}) {
    if (term.kind != Term::Kind::kConstant && std::ranges::find(terms, term) == terms.end()) {
      terms.push_back(term);
    }
  }
  for (const Condition& part : condition.parts) {
    add_terms(part, terms);
  }
}

}  // namespace

std::vector<Term> terms_of(const Condition& condition) {
  std::vector<Term> terms;
  add_terms(condition, terms);
  return terms;
}

std::uint64_t value_of(const Term& term, const std::vector<std::size_t>& first,
                       const Final& final) {
  switch (term.kind) {
    case Term::Kind::kConstant:
      return term.constant;
    case Term::Kind::kRegister:
      return final.registers[first[term.thread] + term.number];
    case Term::Kind::kLocation:
      ASSERT(term.number < final.memory.size());
      return final.memory[term.number];
  }
  ASSERT(false);
}

bool holds(const Condition& condition, const std::vector<std::size_t>& first, const Final& final) {
  const auto part_holds = [&](const Condition& part) { return holds(part, first, final); };
  switch (condition.kind) {
    case Condition::Kind::kTrue:
      return true;
    case Condition::Kind::kAnd:
      return std::ranges::all_of(condition.parts, part_holds);
    case Condition::Kind::kOr:
      return std::ranges::any_of(condition.parts, part_holds);
    case Condition::Kind::kNot:
      return !part_holds(condition.parts.front());
    case Condition::Kind::kEqual:
      return value_of(condition.left, first, final) == value_of(condition.right, first, final);
    case Condition::Kind::kNotEqual:
      return value_of(condition.left, first, final) != value_of(condition.right, first, final);
  }
  ASSERT(false);
}

}  // namespace barracuda::memory_model
