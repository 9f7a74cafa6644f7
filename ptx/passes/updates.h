// Marks the loads and stores of updates in place: a load, and a store to the same address of what
// was made of the value, or that was decided by it. Only for what reports advise.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace updates {
Expected<void> run(Program& program);
}  // namespace updates

}  // namespace barracuda::ptx
