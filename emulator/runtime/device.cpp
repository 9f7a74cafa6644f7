#include "emulator/runtime/driver_calls.h"

namespace barracuda::emulator::runtime {
namespace {

constexpr int kRuntimeVersion = 13000;

// For calls that need no context: cuInit suffices, and a missing context is no error.
template <typename Call>
cudaError_t run_without_context(const Call& call) {
  const DriverCalls& calls = driver_calls();
  CUresult status = calls.cuInit(0);
  if (status == CUDA_SUCCESS) {
    status = call(calls);
  }
  return note(status);
}

cudaError_t check(int device) {
  return device == 0 ? cudaSuccess : note(cudaErrorInvalidDevice);
}

template <typename Value>
cudaError_t answer(Value* to, Value value) {
  if (to == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  *to = value;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return run_without_context(
      [&](const DriverCalls& calls) { return calls.cuDeviceGetCount(count); });
}

cudaError_t cudaGetDevice(int* device) {
  return answer(device, 0);
}

cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t error = check(device); error != cudaSuccess) {
    return error;
  }
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
    if (devices == nullptr || devices[index] != 0) {
      return note(cudaErrorInvalidDevice);
    }
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

cudaError_t cudaDeviceSynchronize() {
  return run([](const DriverCalls& calls) { return calls.cuCtxSynchronize(); });
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

// Attributes and limits have the driver's numbers.

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return run_without_context([&](const DriverCalls& calls) {
    return calls.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device);
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return run([&](const DriverCalls& calls) {
    return calls.cuCtxGetLimit(value, static_cast<CUlimit>(limit));
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuCtxSetLimit(static_cast<CUlimit>(limit), value);
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return run([&](const DriverCalls& calls) {
    return calls.cuCtxGetCacheConfig(reinterpret_cast<CUfunc_cache*>(config));
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return run([&](const DriverCalls& calls) {
    return calls.cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config));
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return run([&](const DriverCalls& calls) {
    return calls.cuCtxGetSharedMemConfig(reinterpret_cast<CUsharedconfig*>(config));
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return run([&](const DriverCalls& calls) {
    return calls.cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config));
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return run_without_context(
      [&](const DriverCalls& calls) { return calls.cuDeviceGetPCIBusId(text, length, device); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return run_without_context(
      [&](const DriverCalls& calls) { return calls.cuDeviceGetByPCIBusId(device, text); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return run_without_context([&](const DriverCalls& calls) {
    return calls.cuDeviceCanAccessPeer(can_access, device, peer);
  });
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

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  return run_without_context([&](const DriverCalls& calls) {
    return calls.cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute),
                                         device, peer);
  });
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                               cudaFlushGPUDirectRDMAWritesScope scope) {
  return run([&](const DriverCalls& calls) {
    return calls.cuFlushGPUDirectRDMAWrites(static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                                            static_cast<CUflushGPUDirectRDMAWritesScope>(scope));
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return run([](const DriverCalls& calls) { return calls.cuCtxResetPersistingL2Cache(); });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return note(driver_calls().cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return answer(version, kRuntimeVersion);
}

cudaError_t cudaProfilerStart() {
  return run([](const DriverCalls& calls) { return calls.cuProfilerStart(); });
}

cudaError_t cudaProfilerStop() {
  return run([](const DriverCalls& calls) { return calls.cuProfilerStop(); });
}

}  // namespace barracuda::emulator::runtime
