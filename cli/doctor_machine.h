// What the tool needs of this machine: the device, the tool's own files, folders and rights.
#pragma once

#include "base/options.h"
#include "cli/device_code.h"
#include "cli/doctor_page.h"

namespace barracuda::cli {

struct MachineReport {
  DoctorSection section;
  DeviceArch arch = 0;  // of the first GPU, if kernels run there
};

MachineReport examine_machine(const Options& options);

// The folder of jit-cache, where it is, what it holds, and whether it can be written.
Fact cache_fact(const Options& options);

}  // namespace barracuda::cli
