#include "weak_memory/memory_model/verdict.h"

namespace barracuda::memory_model {

const std::pair<const Final, Witness>* deciding_final(const LitmusTest& test,
                                                      const Exploration& found) {
  const auto first = first_registers(test.program);
  const bool is_sought = test.quantifier != Quantifier::kForall;
  for (const auto& row : found.finals) {
    if ((!test.filter || holds(*test.filter, first, row.first)) &&
        holds(test.condition, first, row.first) == is_sought) {
      return &row;
    }
  }
  return nullptr;
}

bool condition_holds(const LitmusTest& test, const Exploration& found) {
  const bool is_found = deciding_final(test, found) != nullptr;
  return !found.violation && is_found == (test.quantifier == Quantifier::kExists);
}

}  // namespace barracuda::memory_model
