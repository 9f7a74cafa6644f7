// The parameters and results of a call stand next to it, usually in a block of their own. Nothing
// may come between them and the call.
#pragma once

#include <cstddef>

#include "ptx/module.h"

namespace barracuda::ptx {

struct CallSequence {
  std::size_t begin = 0, end = 0;  // statements [begin, end)
};

// Of the call that stands there, in this function.
CallSequence find_call_sequence(const Module& module, const Function& function, std::size_t call);

}  // namespace barracuda::ptx
