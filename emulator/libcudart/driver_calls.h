// The driver as the runtime sees it: the functions that it has (emulator/libcuda.def),
// asked of the resolver by their exported names. run() is how a runtime function calls them.
#pragma once

#include "emulator/libcudart/calls.h"

namespace barracuda::emulator::runtime {

struct DriverCalls {
#define FUNCTION(name, ...) decltype(&::name) name = nullptr;
#define FUNCTION_PTSZ(name, ...) FUNCTION(name)
#define MISSING(...)
#include "emulator/libcuda.def"
};

// Resolved at first use and after a change of the resolver. Ends the process with a message if the
// resolver knows one of them not.
const DriverCalls& driver_calls();

// Makes the driver initialised and a context current to this thread, as cudart does at the first
// call that needs one.
CUresult enter(const DriverCalls& calls);
// After a reset of the device the next enter() makes a new context.
void forget_context();

// The runtime's codes have the driver's numbers. Notes an error as the thread's last one.
cudaError_t note(CUresult status);
cudaError_t note(cudaError_t error);
// Forgets the error of a failed kernel, as a reset of the device does.
void forget_failure();

// Calls the driver in the runtime's context and notes how it went.
template <typename Call>
cudaError_t run(const Call& call) {
  const DriverCalls& calls = driver_calls();
  const CUresult status = enter(calls);
  return status == CUDA_SUCCESS ? note(call(calls)) : note(status);
}

// The same where the driver needs to be initialised only, and a missing context is no error.
template <typename Call>
cudaError_t run_without_context(const Call& call) {
  const DriverCalls& calls = driver_calls();
  const CUresult status = calls.cuInit(0);
  return status == CUDA_SUCCESS ? note(call(calls)) : note(status);
}

// Whether the call came by a _ptsz or _ptds name, where stream 0 is the thread's own.
bool is_per_thread();
CUstream stream_of(cudaStream_t stream);

class PerThreadScope {
 public:
  PerThreadScope();
  ~PerThreadScope();
  PerThreadScope(const PerThreadScope&) = delete;
  PerThreadScope& operator=(const PerThreadScope&) = delete;
  PerThreadScope(PerThreadScope&&) = delete;
  PerThreadScope& operator=(PerThreadScope&&) = delete;

 private:
  bool outer_;
};

inline CUdeviceptr device_pointer(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace barracuda::emulator::runtime
