// Places in programs of interpreted languages, as numbers that stand among return addresses: no
// function of this machine has such an address. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "report/host_stack.h"

namespace barracuda::report {

// The same address for the same place. At most 2^20 places; later ones have none, 0.
std::uint64_t script_address(const std::string& function, const std::string& file,
                             std::uint32_t line);

bool is_script_address(std::uint64_t address);
// Of an address that script_address() gave.
HostFrame script_frame(std::uint64_t address);

}  // namespace barracuda::report
