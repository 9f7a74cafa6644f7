// Kernel launches, from the forms that CUDA gives them to the work that a stream or a graph runs.
#pragma once

#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/module/module.h"
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

// Whose a launch is: the context in which it was submitted, and what the caller knows it by.
struct LaunchOwner {
  Context* context = nullptr;
  std::uint64_t tag = 0;
};

LaunchOwner current_launch_owner();

struct StartedLaunch {
  std::shared_ptr<Function> function;
  std::unique_ptr<RunningLaunch> running;
};

// A kernel that cannot be started, or that ends with an error, leaves that in the context.
CUresult start(const KernelWork& work, StartedLaunch& launch, const LaunchOwner& owner);
void finish(const KernelWork& work, StartedLaunch& launch, const LaunchOwner& owner);
// Events that are recorded when it is over.
std::vector<CUevent> events_of(const KernelWork& work);

}  // namespace barracuda::emulator::driver
