// Where an instruction accesses memory: the place that an address operand names.
#pragma once

#include <cstdint>

#include "emulator/decode/code_emitter.h"
#include "emulator/execute/form.h"

namespace barracuda::emulator {

struct Address {
  Place place = Place::kGeneric;
  Slot slot = kNoSlot;
  std::int64_t offset = 0;
};

// Nothing, and the instruction is refused, if the operand is no address.
bool bind_address(CodeEmitter& code, const ptx::Operand& operand, ptx::StateSpace space,
                  Address& address);
// The same as an instruction of its own, for what has several; one in global or shared memory.
bool bind_place(CodeEmitter& code, const ptx::Operand& operand, ptx::StateSpace space,
                Instruction& place);
// Global or shared memory, by itself or generic.
bool is_outside_frame(const Address& address);

}  // namespace barracuda::emulator
