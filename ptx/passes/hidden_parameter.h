// Lists the kernels and gives each, where there is room, the parameter that brings the launch
// descriptor.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace hidden_parameter {
Expected<void> run(Program& program);
}  // namespace hidden_parameter

}  // namespace barracuda::ptx
