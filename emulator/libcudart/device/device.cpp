#include "base/early_return.h"
#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {
namespace {

constexpr int kRuntimeVersion = 13000;

cudaError_t check(int device) {
  return device == 0 ? cudaSuccess : note(cudaErrorInvalidDevice);
}

template <typename Value>
cudaError_t answer(Value* to, Value value) {
  RETURN_IF(to == nullptr, note(cudaErrorInvalidValue));
  *to = value;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGetDevice(int* device) {
  return answer(device, 0);
}

cudaError_t cudaSetDevice(int device) {
  RETURN_IF_FAILED(check(device));
  return run([](const DriverCalls& /*calls*/) { return CUDA_SUCCESS; });
}

cudaError_t cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  return runtime::cudaSetDevice(device);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return properties == nullptr ? note(cudaErrorInvalidValue) : answer(device, 0);
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  for (int index = 0; index < count; ++index) {
    RETURN_IF(devices == nullptr || devices[index] != 0, note(cudaErrorInvalidDevice));
  }
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  int is_active = 0;
  return run_without_context([&](const DriverCalls& calls) {
    return calls.cuDevicePrimaryCtxGetState(0, flags, &is_active);
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return run_without_context(
      [&](const DriverCalls& calls) { return calls.cuDevicePrimaryCtxSetFlags_v2(0, flags); });
}

cudaError_t cudaDeviceReset() {
  const cudaError_t error = run_without_context(
      [](const DriverCalls& calls) { return calls.cuDevicePrimaryCtxReset_v2(0); });
  if (error == cudaSuccess) {
    forget_context();
    forget_failure();
  }
  return error;
}

// Of the one device no other is a peer, itself included.
cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) {
  return run([](const DriverCalls&) { return CUDA_ERROR_INVALID_DEVICE; });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return run([&](const DriverCalls& calls) {
    return peer == 0 ? calls.cuCtxDisablePeerAccess(nullptr) : CUDA_ERROR_INVALID_DEVICE;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return note(driver_calls().cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return answer(version, kRuntimeVersion);
}

}  // namespace barracuda::emulator::runtime
