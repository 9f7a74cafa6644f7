// The registers of a function by number, whatever scope declares them, and which of them a
// statement may still read the value of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"

namespace barracuda::ptx {

inline constexpr std::uint32_t kNoRegister = ~std::uint32_t{0};

class RegisterNumbers {
 public:
  // The module must outlive this, and stay as it is.
  RegisterNumbers(const Module& module, const Function& function);

  // kNoRegister: the operand names none that is declared.
  [[nodiscard]] std::uint32_t of(const Operand& operand) const;
  // Of the predicate that guards a statement; kNoRegister if none does.
  [[nodiscard]] std::uint32_t guard_of(std::size_t statement) const;

  [[nodiscard]] std::size_t count() const { return bytes_.size(); }

  // 1 of a predicate.
  [[nodiscard]] std::uint32_t bytes_of(std::uint32_t number) const { return bytes_[number]; }

 private:
  struct Range {
    std::string_view prefix;
    std::uint32_t count = 0, bytes = 0;
  };

  struct Scope {
    boost::unordered_flat_map<std::string_view, std::uint32_t> names;
    std::vector<Range> ranges;
  };

  void declare(const Variable& variable);
  void name(const Operand& operand);
  std::uint32_t find(std::string_view name);
  std::uint32_t add(std::string_view name, Scope& scope, std::uint32_t bytes);

  std::vector<Scope> scopes_;
  std::vector<std::uint32_t> bytes_;
  boost::unordered_flat_map<const Operand*, std::uint32_t> operands_;
  boost::unordered_flat_map<std::size_t, std::uint32_t> guards_;
};

// By statement of the function's body, from its '{' on: which registers hold, just before it, what
// may still be read.
using LiveRegisters = std::vector<std::vector<bool>>;

LiveRegisters live_registers(const Module& module, const Function& function,
                             const RegisterNumbers& registers);

}  // namespace barracuda::ptx
