// A kernel with the functions that it calls in the place of their calls, for who reads one function
// only: the explorer. Parameters become registers, or local memory where they are arrays.
#pragma once

#include <string>

#include "ptx/module.h"

namespace barracuda::ptx {

// The text of the module with the calls of `entry`, and those in what it calls, written out. What
// stays a call: of what has no body here, of itself, by a pointer, under a predicate, with other
// operands than parameters, or nested too deeply.
std::string inline_calls(const Module& module, const Function& entry);

}  // namespace barracuda::ptx
