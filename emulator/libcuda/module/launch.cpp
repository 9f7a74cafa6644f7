#include "emulator/libcuda/module/launch.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/context/device.h"
#include "emulator/libcuda/event/event.h"
#include "emulator/libcuda/module/module.h"
#include "emulator/libcuda/module/occupancy.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

std::atomic<LaunchFailureHandler> g_failure_handler{nullptr};
std::atomic<LaunchTagger> g_tagger{nullptr};

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
    case DeviceErrorCode::kUnended:
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
  RETURN_IF(
      !is_within(config.grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                 CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) ||
          !is_within(config.block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                     CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) ||
          config.block.volume() > static_cast<std::uint64_t>(
                                      device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)),
      CUDA_ERROR_INVALID_VALUE);
  const ptx::Extent block{.x = config.block.x, .y = config.block.y, .z = config.block.z};
  RETURN_IF(function.bounds.required_block.value_or(block) != block, CUDA_ERROR_INVALID_VALUE);
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
  RETURN_IF_FAILED(check_block(config, function));
  RETURN_IF_FAILED(check_cluster(config, function));
  RETURN_IF(config.dynamic_shared_bytes > static_cast<std::uint32_t>(function.max_dynamic_shared),
            CUDA_ERROR_INVALID_VALUE);
  const int blocks =
      blocks_per_multiprocessor(function, config.block.volume(), config.dynamic_shared_bytes);
  RETURN_IF(blocks == 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
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
  RETURN_IF(bytes < buffer.size() || (data == nullptr && !buffer.empty()),
            CUDA_ERROR_INVALID_VALUE);
  if (!buffer.empty()) {
    std::memcpy(buffer.data(), data, buffer.size());
  }
  return CUDA_SUCCESS;
}

CUresult pack(const LaunchRequest& request, const Function& function,
              std::vector<std::byte>& buffer) {
  buffer.resize(function.parameters.bytes);
  if (request.extra != nullptr) {
    return request.parameters == nullptr ? unpack_extra(request.extra, buffer)
                                         : CUDA_ERROR_INVALID_VALUE;
  }
  const std::vector<ptx::ParameterPlace>& places = function.parameters.places;
  RETURN_IF(request.parameters == nullptr && !places.empty(), CUDA_ERROR_INVALID_VALUE);
  for (std::size_t index = 0; index < places.size(); ++index) {
    const void* value = request.parameters[index];
    RETURN_IF(value == nullptr, CUDA_ERROR_INVALID_VALUE);
    const ptx::ParameterPlace& place = places[index];
    std::memcpy(buffer.data() + place.offset, value, place.size);
  }
  return CUDA_SUCCESS;
}

// The launch itself succeeds; its error is found by the calls after it, as with a GPU.
void fail(const DeviceError& error, const Function& function, CUfunction handle,
          const LaunchOwner& owner) {
  owner.context->failure = status_of(error.code);
  if (const LaunchFailureHandler handler = g_failure_handler) {
    handler(error, handle, function.name, owner.tag);
  }
}

// What the work's attributes and the function's own demands say of the launch.
void complete_config(KernelWork& work, const Function& function) {
  const auto attribute = [&](CUlaunchAttributeID id) {
    const auto found = work.attributes.find(id);
    return found == work.attributes.end() ? nullptr : &found->second;
  };
  if (const auto* const value = attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE)) {
    work.config.cooperative = value->cooperative != 0;
  }
  if (const auto* const value = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)) {
    work.config.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
  }
  if (const auto& required = function.bounds.required_cluster) {
    work.config.cluster = {required->x, required->y, required->z};
  }
}

CUresult find_loaded(CUfunction handle, std::shared_ptr<Function>& function) {
  function = find_function_handle(handle);
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : function->module->ensure_loaded();
}

CUresult launch(const LaunchRequest& request, CUstream stream) {
  RETURN_IF_FAILED(require_context());
  KernelWork work;
  const CUresult status = prepare(request, work);
  return status == CUDA_SUCCESS ? submit(stream, std::move(work)) : status;
}

}  // namespace

void set_launch_failure_handler(LaunchFailureHandler handler) {
  g_failure_handler = handler;
}

void set_launch_tagger(LaunchTagger tagger) {
  g_tagger = tagger;
}

LaunchOwner current_launch_owner() {
  const LaunchTagger tagger = g_tagger;
  return {.context = current_context(), .tag = tagger == nullptr ? 0 : tagger()};
}

CUresult prepare(const LaunchRequest& request, KernelWork& work) {
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(find_loaded(request.function, function));
  work.function = request.function;
  work.config = request.config;
  for (const CUlaunchAttribute& attribute :
       std::span(request.attributes, request.attribute_count)) {
    RETURN_IF(attribute.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
              CUDA_ERROR_NOT_SUPPORTED);
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_IGNORE) {
      work.attributes[attribute.id] = attribute.value;
    }
  }
  complete_config(work, *function);
  RETURN_IF_FAILED(check(work.config, *function));
  return pack(request, *function, work.parameters);
}

CUresult set_attribute(KernelWork& work, CUlaunchAttributeID id,
                       const CUlaunchAttributeValue& value) {
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(find_loaded(work.function, function));
  KernelWork changed = work;
  changed.attributes[id] = value;
  complete_config(changed, *function);
  RETURN_IF_FAILED(check(changed.config, *function));
  work = std::move(changed);
  return CUDA_SUCCESS;
}

std::vector<void*> parameter_addresses(KernelWork& work) {
  std::vector<void*> addresses;
  if (const std::shared_ptr<Function> function = find_function_handle(work.function)) {
    for (const ptx::ParameterPlace& place : function->parameters.places) {
      addresses.push_back(work.parameters.data() + place.offset);
    }
  }
  return addresses;
}

CUresult start(const KernelWork& work, StartedLaunch& launch, const LaunchOwner& owner) {
  RETURN_IF_FAILED(find_loaded(work.function, launch.function));
  DeviceError error;
  launch.running = machine().begin(*launch.function->kernel, work.config, work.parameters, error);
  if (launch.running == nullptr) {
    fail(error, *launch.function, work.function, owner);
  }
  return CUDA_SUCCESS;
}

void finish(const KernelWork& work, StartedLaunch& launch, const LaunchOwner& owner) {
  const DeviceError error = launch.running->finish();
  launch.running.reset();
  if (error.code != DeviceErrorCode::kNone) {
    fail(error, *launch.function, work.function, owner);
  } else {
    std::ranges::for_each(events_of(work), record_event);
  }
}

std::vector<CUevent> events_of(const KernelWork& work) {
  std::vector<CUevent> events;
  for (const auto& [id, value] : work.attributes) {
    if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      events.push_back(value.programmaticEvent.event);
    } else if (id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
      events.push_back(value.launchCompletionEvent.event);
    }
  }
  return events;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** parameters, void** extra) {
  return launch({.function = function,
                 .config = {.grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .dynamic_shared_bytes = shared},
                 .parameters = parameters,
                 .extra = extra},
                stream);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  RETURN_IF(config == nullptr || (config->attrs == nullptr && config->numAttrs != 0),
            CUDA_ERROR_INVALID_VALUE);
  return launch({.function = function,
                 .config = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                            .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                            .dynamic_shared_bytes = config->sharedMemBytes},
                 .parameters = parameters,
                 .extra = extra,
                 .attributes = config->attrs,
                 .attribute_count = config->numAttrs},
                config->hStream);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** parameters) {
  return launch({.function = function,
                 .config = {.grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .dynamic_shared_bytes = shared,
                            .cooperative = true},
                 .parameters = parameters},
                stream);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn callback, void* data) {
  RETURN_IF_FAILED(require_context());
  return callback == nullptr ? CUDA_ERROR_INVALID_VALUE
                             : submit(stream, HostWork{.function = callback, .data = data});
}

}  // namespace barracuda::emulator::driver
