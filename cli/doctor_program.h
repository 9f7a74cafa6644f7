// What in a program, and in the libraries that it is started with, stands in the way of a check, as
// far as their files tell. Nothing of the program is run.
#pragma once

#include <string>
#include <vector>

#include "cli/device_code.h"
#include "cli/doctor_page.h"

namespace barracuda::cli {

// Where kernels would run.
struct DoctorDevice {
  bool is_emulated = true;
  DeviceArch arch = 0;  // of the GPU; 0: emulated, or not known
};

// A section for the program and one for each library of its own with kernels.
std::vector<DoctorSection> examine_program(const std::string& file, const DoctorDevice& device);

// The same of device code alone; `name`: of its file.
std::vector<Fact> device_code_facts(const DeviceCode& code, const std::string& name);

}  // namespace barracuda::cli
