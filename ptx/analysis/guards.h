// What branches have decided wherever a thread comes to a statement: `if (x < width)` around it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ptx/analysis/program.h"
#include "ptx/analysis/register_uses.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

// `less` is less than `more`, or equal to it if it may be, as a `setp` of this type has compared
// them.
struct Comparison {
  const Operand* less = nullptr;
  const Operand* more = nullptr;
  bool may_be_equal = false;
  ScalarType type = ScalarType::kNone;
};

class Guards {
 public:
  // `uses`: of the function of which this is the flow.
  Guards(const Program& program, const ControlFlow& flow, const RegisterUses& uses)
      : program_(program), flow_(flow), uses_(uses) {}

  // Those that are true there, of predicates with one definition. When that was made they were, so
  // they say something of registers that never change.
  [[nodiscard]] std::vector<Comparison> at(std::size_t statement) const;

 private:
  // Of a predicate that is known to be so.
  void add(std::string_view predicate, bool value, int depth,
           std::vector<Comparison>& comparisons) const;

  const Program& program_;
  const ControlFlow& flow_;
  const RegisterUses& uses_;
};

}  // namespace barracuda::ptx
