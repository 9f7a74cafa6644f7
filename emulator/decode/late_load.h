// Which loads of a text may take place later than they stand there, and how far.
#pragma once

#include <cstddef>
#include <optional>

#include "ptx/module.h"

namespace barracuda::emulator {

// The first statement that the load must not be later than: one that uses or replaces what it
// loads, that may order memory or lead elsewhere, or that accesses memory in another way than by ld
// and st. None where no store stands before it, or where the statement `load` is none. `body_end`:
// the last statement of its function.
std::optional<std::size_t> end_of_late_load(const ptx::Module& module, std::size_t load,
                                            std::size_t body_end);

// The call by which the logger logs that load. None: it is not logged, as far as its text says.
std::optional<std::size_t> log_of_load(const ptx::Module& module, std::size_t load,
                                       std::size_t body_begin);

// The instruction that the statement is the logging call of, if nothing branches in between.
std::optional<std::size_t> logged_by(const ptx::Module& module, std::size_t call,
                                     std::size_t body_end);

}  // namespace barracuda::emulator
