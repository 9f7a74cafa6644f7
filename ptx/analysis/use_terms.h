// The ways on which a value reaches a use: each with what must hold on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/analysis/implied_literals.h"

namespace barracuda::ptx {

// All of them hold; none twice.
using UseTerm = std::vector<Literal>;

[[nodiscard]] bool has_all_of(const UseTerm& term, const UseTerm& others);

// One of them holds. None says no more than another one.
class UseTerms {
 public:
  // Two that differ in what one of them negates become what they share.
  void add(UseTerm term);

  void clear() { terms_.clear(); }

  [[nodiscard]] std::size_t size() const { return terms_.size(); }

  [[nodiscard]] bool is_implied_by(const UseTerm& term) const;
  [[nodiscard]] bool always_hold() const;
  [[nodiscard]] std::vector<std::string_view> names() const;
  // PTX that puts into %__barracuda_u whether one holds.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<UseTerm> terms_;
};

}  // namespace barracuda::ptx
