// Who may read what one instruction has put into a register that several write.
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/program.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

// Statements.
using ReachedUses = boost::unordered_flat_set<std::size_t>;

// Those that read the register on some way from `definition`, before it is written anew there.
ReachedUses reached_uses(const Program& program, const ControlFlow& flow, std::string_view name,
                         std::size_t definition);

}  // namespace barracuda::ptx
