// Finds flag stores and polls (RACE_RULES section 2) among the sites and makes them numbered.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace sync_idioms {
Expected<void> run(Program& program);
}  // namespace sync_idioms

}  // namespace barracuda::ptx
