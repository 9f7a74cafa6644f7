// Drops the hook of accesses that an earlier one in their basic block stands for (RACE_RULES
// section 4).
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace reduce_in_block {
Expected<void> run(Program& program);
}  // namespace reduce_in_block

}  // namespace barracuda::ptx
