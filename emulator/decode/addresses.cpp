#include "emulator/decode/addresses.h"

#include <fmt/format.h>

namespace barracuda::emulator {

using ptx::ScalarType;
using ptx::StateSpace;

namespace {

Place place_of(StateSpace space) {
  switch (space) {
    case StateSpace::kShared:
      return Place::kShared;
    case StateSpace::kLocal:
      return Place::kLocal;
    case StateSpace::kGlobal:
    case StateSpace::kConst:
      return Place::kGlobal;
    case StateSpace::kNone:
    case StateSpace::kGeneric:
    case StateSpace::kParam:  // by register: parameters have generic addresses
    case StateSpace::kReg:
    case StateSpace::kSreg:
    case StateSpace::kTex:
      return Place::kGeneric;
  }
  return Place::kGeneric;
}

bool bind_symbol_address(CodeEmitter& code, const ptx::Operand& base, StateSpace space,
                         Address& address) {
  const Symbol* symbol = code.symbols().find(base.name);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::kKernelParameter) {
    address.place = Place::kParameter;
    address.offset += symbol->offset;
    return true;
  }
  if (symbol != nullptr && symbol->kind == Symbol::Kind::kLocal) {
    address.place = Place::kFrame;
    address.offset += symbol->offset;
    return true;
  }
  address.place = place_of(space);
  address.slot = code.symbol_source(base, ScalarType::kU64);
  return address.slot != kNoSlot;
}

}  // namespace

bool bind_address(CodeEmitter& code, const ptx::Operand& operand, StateSpace space,
                  Address& address) {
  if (operand.kind != ptx::Operand::Kind::kAddress || operand.elements.size() != 1) {
    code.refuse(fmt::format("address {}", operand.text));
    return false;
  }
  const ptx::Operand& base = operand.elements[0];
  address.offset = operand.offset;
  if (base.kind == ptx::Operand::Kind::kSymbol) {
    return bind_symbol_address(code, base, space, address);
  }
  address.place = place_of(space);
  address.slot = code.source(base, ScalarType::kU64);
  return address.slot != kNoSlot;
}

bool bind_place(CodeEmitter& code, const ptx::Operand& operand, StateSpace space,
                Instruction& place) {
  Address address;
  if (!bind_address(code, operand, space, address)) {
    return false;
  }
  if (!is_outside_frame(address)) {
    code.refuse("an address that is neither global nor shared");
    return false;
  }
  place.a = address.slot;
  place.immediate = address.offset;
  place.flags = static_cast<std::uint8_t>(address.place);
  place.statement = code.statement();
  return true;
}

bool is_outside_frame(const Address& address) {
  return address.place == Place::kGlobal || address.place == Place::kShared ||
         address.place == Place::kGeneric;
}

}  // namespace barracuda::emulator
