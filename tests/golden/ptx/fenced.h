// A module with a fence at every place where one may be put.
#pragma once

#include "ptx/module.h"

namespace barracuda::ptx {

// Each of its own kind, by the text that a list of places has. Fails the current test case if one
// does not fit, or if the module is not read back as it was printed.
void fence_everywhere(Module& module);

}  // namespace barracuda::ptx
