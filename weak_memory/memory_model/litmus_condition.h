// What a litmus test says of registers and memory.
#pragma once

#include <cstdint>
#include <vector>

#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model {

struct Term {
  enum class Kind : std::uint8_t { kConstant, kRegister, kLocation };

  Kind kind = Kind::kConstant;
  std::uint64_t constant = 0;
  std::uint32_t thread = 0;
  std::uint32_t number = 0;   // of the register, or of the location
  std::uint32_t address = 0;  // the name under which the location was given

  friend auto operator<=>(const Term&, const Term&) = default;
};

struct Condition {
  enum class Kind : std::uint8_t { kTrue, kAnd, kOr, kNot, kEqual, kNotEqual };

  Kind kind = Kind::kTrue;
  std::vector<Condition> parts;
  Term left, right;
};

// All registers and locations that it names, in order, each once.
std::vector<Term> terms_of(const Condition& condition);

// `first` as first_registers() gives it. The memory must be there if the condition names it.
std::uint64_t value_of(const Term& term, const std::vector<std::size_t>& first, const Final& final);
bool holds(const Condition& condition, const std::vector<std::size_t>& first, const Final& final);

}  // namespace barracuda::memory_model
