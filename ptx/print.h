// Module → PTX text that ptxas assembles: one statement a line, each with the tokens it was read
// from. parse(print(m)) equals m statement by statement.
#pragma once

#include <string>

#include "ptx/module.h"

namespace barracuda::ptx {

std::string print(const Module& module);

// The same statements: kinds, and texts token by token (white space and comments aside).
bool equal(const Module& left, const Module& right);

}  // namespace barracuda::ptx
