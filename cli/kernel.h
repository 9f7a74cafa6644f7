// `barracuda kernel`: one kernel from a .ptx or .cu file, launched under the race detector without
// a host program. The command starts itself again under `run`, so that the launch is a program like
// any other, on the GPU or on the emulated device.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status, as `run` has it; 64 for arguments that do not fit the kernel.
int kernel(KernelCommand command);

}  // namespace barracuda::cli
