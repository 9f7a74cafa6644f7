// Inserts the calls of the logger, and the store of the launch descriptor at the entries.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace insert_hooks {
Expected<void> run(Program& program);
}  // namespace insert_hooks

}  // namespace barracuda::ptx
