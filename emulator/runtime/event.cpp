#include "emulator/runtime/driver_calls.h"

namespace barracuda::emulator::runtime {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuEventCreate(event, CU_EVENT_DEFAULT); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return run([&](const DriverCalls& calls) { return calls.cuEventCreate(event, flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuEventRecord(event, stream_of(stream)); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return run([&](const DriverCalls& calls) {
    return calls.cuEventRecordWithFlags(event, stream_of(stream), flags);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return run([&](const DriverCalls& calls) { return calls.cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return run([&](const DriverCalls& calls) { return calls.cuEventSynchronize(event); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return run([&](const DriverCalls& calls) { return calls.cuEventDestroy_v2(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return run([&](const DriverCalls& calls) {
    return calls.cuEventElapsedTime_v2(milliseconds, start, end);
  });
}

}  // namespace barracuda::emulator::runtime
