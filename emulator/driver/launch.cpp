#include <cstring>
#include <span>
#include <vector>

#include "emulator/driver/device.h"
#include "emulator/driver/module.h"
#include "emulator/driver/occupancy.h"
#include "emulator/driver/stream.h"
#include "emulator/driver_face.h"

namespace barracuda::emulator::driver {
namespace {

std::atomic<LaunchFailureHandler> g_failure_handler{nullptr};

struct LaunchRequest {
  CUfunction handle = nullptr;
  LaunchConfig config{};
  CUstream stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};

CUresult status_of(DeviceErrorCode code) {
  switch (code) {
    case DeviceErrorCode::kNone:
      return CUDA_SUCCESS;
    case DeviceErrorCode::kIllegalAddress:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case DeviceErrorCode::kMisalignedAddress:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case DeviceErrorCode::kAssert:
      return CUDA_ERROR_ASSERT;
    case DeviceErrorCode::kTrap:
    case DeviceErrorCode::kStackOverflow:
      return CUDA_ERROR_LAUNCH_FAILED;
    case DeviceErrorCode::kIllegalInstruction:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case DeviceErrorCode::kInvalidPc:
      return CUDA_ERROR_INVALID_PC;
    case DeviceErrorCode::kTimeout:
    case DeviceErrorCode::kDeadlock:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
  }
  return CUDA_ERROR_UNKNOWN;
}

bool is_within(const Dim3& size, CUdevice_attribute x, CUdevice_attribute y, CUdevice_attribute z) {
  const auto fits = [](std::uint32_t extent, CUdevice_attribute limit) {
    return extent != 0 && extent <= static_cast<std::uint32_t>(device_attribute(limit));
  };
  return fits(size.x, x) && fits(size.y, y) && fits(size.z, z);
}

CUresult check_block(const LaunchConfig& config, const Function& function) {
  if (!is_within(config.grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                 CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) ||
      !is_within(config.block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                 CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) ||
      config.block.volume() >
          static_cast<std::uint64_t>(device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Dim3& required = function.required_block;
  if (required.x != 0 && (required.x != config.block.x || required.y != config.block.y ||
                          required.z != config.block.z)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return config.block.volume() > function.attributes.max_threads
             ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
             : CUDA_SUCCESS;
}

CUresult check_cluster(const LaunchConfig& config, const Function& function) {
  const Dim3& cluster = config.cluster;
  const std::uint64_t limit = function.non_portable_cluster ? 16 : 8;
  const bool is_divisor = cluster.volume() != 0 && config.grid.x % cluster.x == 0 &&
                          config.grid.y % cluster.y == 0 && config.grid.z % cluster.z == 0;
  return is_divisor && cluster.volume() <= limit ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

CUresult check(const LaunchConfig& config, const Function& function) {
  if (const CUresult status = check_block(config, function); status != CUDA_SUCCESS) {
    return status;
  }
  if (const CUresult status = check_cluster(config, function); status != CUDA_SUCCESS) {
    return status;
  }
  if (config.dynamic_shared_bytes > static_cast<std::uint32_t>(function.max_dynamic_shared)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int blocks =
      blocks_per_multiprocessor(function, config.block.volume(), config.dynamic_shared_bytes);
  if (blocks == 0) {
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  const int resident = blocks * device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const bool fits = config.grid.volume() <= static_cast<std::uint64_t>(resident);
  return config.cooperative && !fits ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

// A list of (name, value) pairs with the packed buffer.
CUresult unpack_extra(void** extra, std::span<std::byte> buffer) {
  const void* data = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      data = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (bytes < buffer.size() || (data == nullptr && !buffer.empty())) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!buffer.empty()) {
    std::memcpy(buffer.data(), data, buffer.size());
  }
  return CUDA_SUCCESS;
}

CUresult pack(const LaunchRequest& request, const Function& function,
              std::vector<std::byte>& buffer) {
  buffer.resize(function.parameter_bytes);
  if (request.extra != nullptr) {
    return request.parameters == nullptr ? unpack_extra(request.extra, buffer)
                                         : CUDA_ERROR_INVALID_VALUE;
  }
  if (request.parameters == nullptr && !function.parameters.empty()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t index = 0; index < function.parameters.size(); ++index) {
    const void* value = request.parameters[index];
    if (value == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const ParameterPlace& place = function.parameters[index];
    std::memcpy(buffer.data() + place.offset, value, place.size);
  }
  return CUDA_SUCCESS;
}

// The launch itself succeeds; its error is found by the calls after it, as with a GPU.
void fail(const DeviceError& error, const Function& function, CUfunction handle) {
  current_context()->failure = status_of(error.code);
  if (const LaunchFailureHandler handler = g_failure_handler) {
    handler(error, handle, function.name);
  }
}

CUresult run(LaunchRequest request) {
  if (const CUresult status = require_context(); status != CUDA_SUCCESS) {
    return status;
  }
  const std::shared_ptr<Function> function = find_function_handle(request.handle);
  if (function == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (const CUresult status = function->module->ensure_loaded(); status != CUDA_SUCCESS) {
    return status;
  }
  if (function->required_cluster.x != 0) {
    request.config.cluster = function->required_cluster;
  }
  if (const CUresult status = check(request.config, *function); status != CUDA_SUCCESS) {
    return status;
  }
  std::vector<std::byte> parameters;
  if (const CUresult status = pack(request, *function, parameters); status != CUDA_SUCCESS) {
    return status;
  }
  DeviceError error;
  {
    const StreamTurn turn(request.stream);
    if (turn.status() != CUDA_SUCCESS) {
      return turn.status();
    }
    error = machine().launch(*function->kernel, request.config, parameters);
  }
  if (error.code != DeviceErrorCode::kNone) {
    fail(error, *function, request.handle);
  }
  return CUDA_SUCCESS;
}

LaunchConfig config_of(const CUlaunchConfig& from) {
  LaunchConfig config;
  config.grid = {from.gridDimX, from.gridDimY, from.gridDimZ};
  config.block = {from.blockDimX, from.blockDimY, from.blockDimZ};
  config.dynamic_shared_bytes = from.sharedMemBytes;
  // The other attributes are about time and caches.
  for (const CUlaunchAttribute& attribute : std::span(from.attrs, from.numAttrs)) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      config.cooperative = attribute.value.cooperative != 0;
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = attribute.value.clusterDim;
      config.cluster = {cluster.x, cluster.y, cluster.z};
    }
  }
  return config;
}

}  // namespace

void set_launch_failure_handler(LaunchFailureHandler handler) {
  g_failure_handler = handler;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** parameters, void** extra) {
  LaunchRequest request{
      .handle = function, .stream = stream, .parameters = parameters, .extra = extra};
  request.config.grid = {grid_x, grid_y, grid_z};
  request.config.block = {block_x, block_y, block_z};
  request.config.dynamic_shared_bytes = shared;
  return run(request);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  if (config == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return run({.handle = function,
              .config = config_of(*config),
              .stream = config->hStream,
              .parameters = parameters,
              .extra = extra});
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** parameters) {
  LaunchRequest request{.handle = function, .stream = stream, .parameters = parameters};
  request.config.grid = {grid_x, grid_y, grid_z};
  request.config.block = {block_x, block_y, block_z};
  request.config.dynamic_shared_bytes = shared;
  request.config.cooperative = true;
  return run(request);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn callback, void* data) {
  const StreamTurn turn(stream);
  if (turn.status() != CUDA_SUCCESS) {
    return turn.status();
  }
  if (callback == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  callback(data);
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
