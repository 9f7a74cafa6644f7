// Launches one kernel through the CUDA driver that this process finds: the program that `barracuda
// kernel` runs under the detector.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "cli/arguments.h"
#include "cli/kernel_argument.h"

namespace barracuda::cli {

// Copies the buffers to the device, launches `entry` of `ptx` once, copies them back.
Expected<void> launch_kernel(const std::string& ptx, const std::string& entry,
                             const KernelCommand& command, std::vector<KernelArgument>& arguments);

}  // namespace barracuda::cli
