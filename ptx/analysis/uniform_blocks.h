// Which basic blocks of a function all threads of a CTA come to together, as far as the text says:
// where a barrier may stand. What a thread's number, memory or an atomic has a part in may differ
// from thread to thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.h"
#include "ptx/module.h"

namespace barracuda::ptx {

enum class Uniformity : std::uint8_t {
  kAll,   // every thread
  kRest,  // every thread that has not left the function before
  kSome,
};

// By block.
std::vector<Uniformity> find_uniform_blocks(const Module& module, const Function& function,
                                            const ControlFlow& flow);

}  // namespace barracuda::ptx
