#include "base/early_return.h"
#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  RETURN_IF(device == nullptr, note(cudaErrorInvalidValue));
  *device = 0;
  return run([&](const DriverCalls& calls) {
    unsigned flags = 0;
    return calls.cuStreamGetFlags(stream_of(stream), &flags);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return note(driver_calls().cuThreadExchangeStreamCaptureMode(
      reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

}  // namespace barracuda::emulator::runtime
