#include "base/early_return.h"
#include "emulator/libcudart/older.h"

namespace barracuda::emulator::runtime {

int attribute_of(const DriverCalls& calls, cudaDeviceAttr attribute) {
  int value = 0;
  calls.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0);
  return value;
}

namespace {

template <std::size_t Extent>
void fill(const DriverCalls& calls, int (&elements)[Extent],
          const cudaDeviceAttr (&attributes)[Extent]) {
  for (std::size_t i = 0; i < Extent; ++i) {
    elements[i] = attribute_of(calls, attributes[i]);
  }
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  RETURN_IF(properties == nullptr, note(cudaErrorInvalidValue));
  const DriverCalls& calls = driver_calls();
  *properties = {};
  CUresult status = calls.cuInit(0);
  if (status == CUDA_SUCCESS) {
    status = calls.cuDeviceGetName(properties->name, sizeof properties->name, device);
  }
  if (status == CUDA_SUCCESS) {
    status = calls.cuDeviceTotalMem_v2(&properties->totalGlobalMem, device);
  }
  if (status == CUDA_SUCCESS) {
    status = calls.cuDeviceGetUuid_v2(&properties->uuid, device);
  }
  if (status != CUDA_SUCCESS) {
    return note(status);
  }
#define FIELD(...)
#define ATTRIBUTE(type, name, attribute) \
  properties->name = static_cast<type>(attribute_of(calls, attribute));
#define ATTRIBUTES(type, name, extent, ...) fill(calls, properties->name, {__VA_ARGS__});
#define ADDED(name, attribute) ATTRIBUTE(int, name, attribute)
#include "emulator/libcudart/device/device_properties.def"
  return cudaSuccess;
}

}  // namespace barracuda::emulator::runtime
