#include "ptx/analysis/use_terms.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace barracuda::ptx {
namespace {

bool has(const UseTerm& term, const Literal& literal) {
  return std::ranges::find(term, literal) != term.end();
}

Literal negation_of(Literal literal) {
  literal.is_negated = !literal.is_negated;
  return literal;
}

std::string put(const Literal& literal, std::string_view into) {
  return literal.number_bits != 0
             ? fmt::format("setp.ne.b{} {}, {}, 0;\n", literal.number_bits, into, literal.name)
             : fmt::format("{}.pred {}, {};\n", literal.is_negated ? "not" : "mov", into,
                           literal.name);
}

}  // namespace

bool has_all_of(const UseTerm& term, const UseTerm& others) {
  return std::ranges::all_of(others, [&](const Literal& other) { return has(term, other); });
}

void UseTerms::add(UseTerm term) {
  if (is_implied_by(term)) {
    return;
  }
  std::erase_if(terms_, [&](const UseTerm& other) { return has_all_of(other, term); });
  for (std::size_t n = 0; n < term.size(); ++n) {
    UseTerm opposite = term;
    opposite[n] = negation_of(term[n]);
    // Where the literal does not hold the other term does, so that this one needs not ask for it.
    if (std::ranges::any_of(terms_, [&](const UseTerm& other) {
          return has_all_of(opposite, other) && has(other, opposite[n]);
        })) {
      term.erase(term.begin() + static_cast<std::ptrdiff_t>(n));
      add(std::move(term));
      return;
    }
  }
  terms_.push_back(std::move(term));
}

bool UseTerms::is_implied_by(const UseTerm& term) const {
  return std::ranges::any_of(terms_, [&](const UseTerm& other) { return has_all_of(term, other); });
}

bool UseTerms::always_hold() const {
  return std::ranges::any_of(terms_, &UseTerm::empty);
}

std::vector<std::string_view> UseTerms::names() const {
  std::vector<std::string_view> names;
  for (const UseTerm& term : terms_) {
    for (const Literal& literal : term) {
      names.push_back(literal.name);
    }
  }
  return names;
}

std::string UseTerms::text() const {
  constexpr std::string_view kAny = "%__barracuda_u", kTerm = "%__barracuda_t",
                             kLiteral = "%__barracuda_y";
  const bool has_several =
      std::ranges::any_of(terms_, [](const UseTerm& term) { return term.size() > 1; });
  std::string text = fmt::format(".reg .pred {}, {}{}{};\n", kAny, kTerm, has_several ? ", " : "",
                                 has_several ? kLiteral : "");
  for (std::size_t n = 0; n < terms_.size(); ++n) {
    const std::string_view into = n == 0 ? kAny : kTerm;
    for (std::size_t i = 0; i < terms_[n].size(); ++i) {
      text += put(terms_[n][i], i == 0 ? into : kLiteral);
      text += i == 0 ? "" : fmt::format("and.pred {0}, {0}, {1};\n", into, kLiteral);
    }
    text += n == 0 ? "" : fmt::format("or.pred {0}, {0}, {1};\n", kAny, kTerm);
  }
  return text;
}

}  // namespace barracuda::ptx
