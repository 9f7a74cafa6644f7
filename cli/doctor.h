// `barracuda doctor`: what stands in the way of a check, and its cure. Exit status 0: nothing does;
// 67: something does; 126, 127: the program cannot be started, or is not found.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

int doctor(const DoctorCommand& command);

}  // namespace barracuda::cli
