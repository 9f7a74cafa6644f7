// First pass: the Effect of every instruction.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace classify_statements {
Expected<void> run(Program& program);
}  // namespace classify_statements

}  // namespace barracuda::ptx
