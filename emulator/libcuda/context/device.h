// The one device, as constants: what the attributes say and launches are checked against.
#pragma once

#include "emulator/libcuda/calls.h"

namespace barracuda::emulator::driver {

// 0 for what device_attributes.def does not name.
int device_attribute(CUdevice_attribute attribute);

inline constexpr int kCudaVersion = 13000;
inline constexpr const char* kDeviceName = "BARRACUDA emulated device";
inline constexpr const char* kPciBusId = "0000:00:00.0";

}  // namespace barracuda::emulator::driver
