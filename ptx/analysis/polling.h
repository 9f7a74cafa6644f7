// Where a lane may have to wait, where lanes meet, for another lane of its warp that polls. A
// barrier of all lanes of a warp divides a kernel into stretches: they are all in the same one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/expected.h"
#include "ptx/analysis/program.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

// The blocks that some branch goes back to: where a loop may begin again. Every cycle has one.
std::vector<std::uint32_t> loop_heads(const ControlFlow& flow);

// By function. To poll: to loop, to be recursive, to call by address, or to wait at a barrier that
// need not have all lanes of the warp together.
struct Pollers {
  std::vector<bool> by_calls;  // it does, or what it may call
  std::vector<bool> beside;  // so does a function that may call it, or whoever may call by address
};

// Errors: a function without control flow.
Expected<Pollers> find_pollers(Program& program);

// By statement from the '{' of the function's body to its '}': whether a lane may poll while
// another one of its warp is there. In a kernel that is a matter of the stretch. Stretches of
// another function begin at its callers: it is one with all of them.
std::vector<bool> find_polling(const Program& program, std::uint32_t function,
                               const ControlFlow& flow, const Pollers& pollers);

}  // namespace barracuda::ptx
