#include "weak_memory/memory_model/litmus_test.h"

#include <algorithm>

namespace barracuda::memory_model {
namespace {

bool is_location(const Term& term) {
  return term.kind == Term::Kind::kLocation;
}

bool names_memory(const Condition& condition) {
  return std::ranges::any_of(terms_of(condition), is_location);
}

}  // namespace

bool asks_memory(const LitmusTest& test) {
  return names_memory(test.condition) || (test.filter && names_memory(*test.filter)) ||
         (test.always && names_memory(*test.always)) ||
         std::ranges::any_of(test.shown, is_location);
}

}  // namespace barracuda::memory_model
