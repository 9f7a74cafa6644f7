// Registers of a function that hold a compile-time constant: those with one definition, a mov of an
// immediate or of a name's address. Names are taken as one whatever their scope, so a shadowed one
// is never a constant.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"

namespace barracuda::ptx {

// So many bytes behind a variable's or parameter's begin.
struct NamedPlace {
  std::string_view name;
  std::int64_t offset = 0;
};

class Constants {
 public:
  Constants(const Module& module, const Function& function);

  // The low `bytes` bytes of an operand that is a constant.
  [[nodiscard]] std::optional<std::uint64_t> value_of(const Operand& operand,
                                                      std::uint32_t bytes) const;

  // Where an address leads that names its place, by itself or through a register that holds one.
  [[nodiscard]] std::optional<NamedPlace> place_of(const Operand& address) const;

 private:
  struct Register {
    std::uint32_t definitions = 0;
    const Operand* value = nullptr;
  };

  void define(const Operand& destination);
  // What the one definition of a register moves there; null if that is no mov.
  [[nodiscard]] const Operand* moved_to(const Operand& reg) const;

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
