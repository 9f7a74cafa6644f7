// Kernel launches, from the forms that CUDA gives them to the work that a stream or a graph runs.
#pragma once

#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {

struct LaunchRequest {
  CUfunction function = nullptr;
  LaunchConfig config{};
  void** parameters = nullptr;
  void** extra = nullptr;
  const CUlaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// Checks the request and copies its parameters.
CUresult prepare(const LaunchRequest& request, KernelWork& work);
// Puts an attribute into the work; what it means for the launch is checked again.
CUresult set_attribute(KernelWork& work, CUlaunchAttributeID id,
                       const CUlaunchAttributeValue& value);
// Where each parameter lies in the work's packed buffer.
std::vector<void*> parameter_addresses(KernelWork& work);

}  // namespace barracuda::emulator::driver
