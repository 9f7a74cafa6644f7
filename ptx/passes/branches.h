// Where the lanes of a warp part and meet: sites at branches that they may take apart and at their
// post-dominators. For model=paper alone; needs all other sites.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace branches {
Expected<void> run(Program& program);
}  // namespace branches

}  // namespace barracuda::ptx
