// Which window of the generic address space an address lies in.
#pragma once

#include <cstdint>

#include "emulator/execute/control.h"

namespace barracuda::emulator {

AddressWindow window_of(const Context& c, std::uint64_t address);

}  // namespace barracuda::emulator
