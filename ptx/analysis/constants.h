// Registers of a function that hold a compile-time constant: those with one definition, a mov of an
// immediate. Names are taken as one whatever their scope, so a shadowed one is never a constant.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"

namespace barracuda::ptx {

class Constants {
 public:
  Constants(const Module& module, const Function& function);

  // The low `bytes` bytes of an operand that is a constant.
  [[nodiscard]] std::optional<std::uint64_t> value_of(const Operand& operand,
                                                      std::uint32_t bytes) const;

 private:
  struct Register {
    std::uint32_t definitions = 0;
    const Operand* value = nullptr;
  };

  void define(const Operand& destination);

  boost::unordered_flat_map<std::string_view, Register> registers_;
};

// The registers that an instruction writes, each passed to `visit` with the operand that names it.
template <typename Visitor>
void visit_registers(const Operand& operand, const Visitor& visit) {
  if (operand.kind == Operand::Kind::kRegister) {
    visit(operand);
  }
  for (const Operand& element : operand.elements) {
    visit_registers(element, visit);
  }
}

// An immediate as the bytes that a store of `bytes` bytes writes.
std::optional<std::uint64_t> bits_of(const Operand& immediate, std::uint32_t bytes);

}  // namespace barracuda::ptx
