// What the weak memory must know of an instruction beyond what executes it.
#pragma once

#include <cstdint>

#include "emulator/state/instruction.h"
#include "emulator/weakness.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

struct WeakSite {
  Handler plain = nullptr;  // what it does where nothing is weak
  const CodePlace* place = nullptr;
  wire::Scope scope = wire::Scope::kSys;
  bool drains = false;              // to `scope`, before the instruction
  bool resets = false;              // the lanes' windows, after it
  WeakEnd end = WeakEnd::kRelease;  // what ends the delays that it drains
  bool is_strong = false;
  bool is_write = false;
  bool is_selected = true;          // the places of the weakness take it
  std::uint32_t element_bytes = 0;  // of a load or a store; of an atomic, all that it changes
  bool is_signed = false;
  bool is_fence = false;
  bool may_be_late = false;  // a load that is completed by another instruction
};

}  // namespace barracuda::emulator
