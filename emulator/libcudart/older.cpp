#include "emulator/libcudart/older.h"

#include <cstring>

#include "base/early_return.h"

namespace barracuda::emulator::runtime {
namespace {

constexpr unsigned kCuda12 = 12090;
constexpr unsigned kCuda11 = 11080;

static_assert(sizeof(cuda12::cudaDeviceProp) == 1032);
static_assert(offsetof(cuda12::cudaDeviceProp, hostRegisterSupported) == 728);
static_assert(sizeof(cuda12::cudaPointerAttributes) == 24);
static_assert(sizeof(cuda12::cudaLaunchParams) == 56);
static_assert(sizeof(cuda11::cudaFuncAttributes) == 56);

cudaError_t answer_version(int* to, unsigned version) {
  RETURN_IF(to == nullptr, note(cudaErrorInvalidValue));
  *to = static_cast<int>(version);
  return cudaSuccess;
}

cudaError_t get_properties(void* to, std::size_t bytes, int device) {
  RETURN_IF(to == nullptr, note(cudaErrorInvalidValue));
  cudaDeviceProp now{};
  RETURN_IF_FAILED(runtime::cudaGetDeviceProperties(&now, device));
  const DriverCalls& calls = driver_calls();
  cuda12::cudaDeviceProp then{};
#define FIELD(type, name, ...)                        \
  static_assert(sizeof then.name == sizeof now.name); \
  std::memcpy(&then.name, &now.name, sizeof then.name);
#define DROPPED(name, attribute) then.name = attribute_of(calls, attribute);
#include "emulator/libcudart/device/device_properties.def"
  std::memcpy(to, &then, bytes);
  return cudaSuccess;
}

}  // namespace

namespace cuda12 {

cudaError_t cudaRuntimeGetVersion(int* version) {
  return answer_version(version, kCuda12);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return get_properties(properties, offsetof(cudaDeviceProp, hostRegisterSupported), device);
}

cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
  return get_properties(properties, sizeof *properties, device);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return runtime::cudaGetDriverEntryPointByVersion(symbol, function, kCuda12, flags, result);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  RETURN_IF(attributes == nullptr, note(cudaErrorInvalidValue));
  ::cudaPointerAttributes now{};
  const cudaError_t error = runtime::cudaPointerGetAttributes(&now, pointer);
  if (error == cudaSuccess) {
    std::memcpy(attributes, &now, sizeof *attributes);  // 13 has only added fields
  }
  return error;
}

// There is one device.
cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams* launches, unsigned count,
                                                   unsigned /*flags*/) {
  RETURN_IF(launches == nullptr || count != 1, note(cudaErrorInvalidValue));
  return runtime::cudaLaunchCooperativeKernel(launches->func, launches->gridDim, launches->blockDim,
                                              launches->args, launches->sharedMem,
                                              launches->stream);
}

// Devices without doubles are long gone.
cudaError_t cudaSetDoubleForDevice(double* /*value*/) {
  return cudaSuccess;
}

cudaError_t cudaSetDoubleForHost(double* /*value*/) {
  return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             std::size_t count, cudaGraphNodeParams* parameters) {
  return runtime::cudaGraphAddNode(node, graph, after, nullptr, count, parameters);
}

}  // namespace cuda12

namespace cuda11 {

cudaError_t cudaRuntimeGetVersion(int* version) {
  return answer_version(version, kCuda11);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags) {
  return runtime::cudaGetDriverEntryPointByVersion(symbol, function, kCuda11, flags, nullptr);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* symbol) {
  RETURN_IF(attributes == nullptr, note(cudaErrorInvalidValue));
  ::cudaFuncAttributes now{};
  const cudaError_t error = runtime::cudaFuncGetAttributes(&now, symbol);
  if (error == cudaSuccess) {
    std::memcpy(attributes, &now, sizeof *attributes);  // 12 has only added fields
  }
  return error;
}

}  // namespace cuda11
}  // namespace barracuda::emulator::runtime
