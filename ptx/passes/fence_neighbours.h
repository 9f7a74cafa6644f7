// Which accesses are acquires and releases by the rules of BARRACUDA (PLDI 2017, section 3.1):
// those that a fence comes before or after in the code. For model=paper alone; after sync_idioms.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace fence_neighbours {
Expected<void> run(Program& program);
}  // namespace fence_neighbours

}  // namespace barracuda::ptx
