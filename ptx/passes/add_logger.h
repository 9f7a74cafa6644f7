// Adds the functions of the device logger that the hooks call.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace add_logger {
Expected<void> run(Program& program);
}  // namespace add_logger

}  // namespace barracuda::ptx
