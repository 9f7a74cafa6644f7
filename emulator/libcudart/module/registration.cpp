#include "base/early_return.h"
#include "emulator/libcudart/module/registry.h"

namespace barracuda::emulator::runtime {
namespace {

// nvcc's handle of a module is opaque to it.
RegisteredModule* module_of(void** handle) {
  return reinterpret_cast<RegisteredModule*>(handle);
}

// What stands between <<< and >>>, kept until the kernel's host stub takes it. The arguments of a
// launch may launch themselves, but not deeper than this.
constexpr std::size_t kMaxDepth = 32;

struct CallConfiguration {
  unsigned grid[3], block[3];
  std::size_t shared;
  void* stream;
};

// Without a destructor, for launches while the thread or the process ends.
struct CallConfigurations {
  std::size_t count;
  CallConfiguration stack[kMaxDepth];
};

constinit thread_local CallConfigurations t_configurations{};

}  // namespace

void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(registry().add_module(wrapper));
}

void __cudaRegisterFatBinaryEnd(void** /*module*/) {}

void __cudaUnregisterFatBinary(void** handle) {
  const std::shared_ptr<RegisteredModule> module = registry().remove_module(module_of(handle));
  if (module == nullptr) {
    return;
  }
  if (const CUlibrary library = module->release_library(); library != nullptr) {
    driver_calls().cuLibraryUnload(library);
  }
}

void __cudaRegisterFunction(void** module, const char* host_function, char* /*device_function*/,
                            const char* device_name, int /*thread_limit*/, uint3* /*thread_id*/,
                            uint3* /*block_id*/, dim3* /*block*/, dim3* /*grid*/,
                            int* /*warp_size*/) {
  registry().add_function(module_of(module), host_function, device_name);
}

void __cudaRegisterVar(void** module, char* host_variable, char* /*device_address*/,
                       const char* device_name, int /*is_extern*/, std::size_t bytes,
                       int /*is_constant*/, int /*is_global*/) {
  registry().add_variable(module_of(module), host_variable,
                          {.module = nullptr, .name = device_name, .bytes = bytes});
}

void __cudaRegisterManagedVar(void** module, void** host_pointer, char* /*device_address*/,
                              const char* device_name, int /*is_extern*/, std::size_t bytes,
                              int /*is_constant*/, int /*is_global*/) {
  registry().add_managed_variable(module_of(module), host_pointer,
                                  {.module = nullptr, .name = device_name, .bytes = bytes});
}

// Host variables that device code names: only for devices that share the host's page tables.
void __cudaRegisterHostVar(void** /*module*/, const char* /*device_name*/, char* /*host_variable*/,
                           std::size_t /*bytes*/) {}

char __cudaInitModule(void** handle) {
  const std::shared_ptr<RegisteredModule> module = registry().find_module(module_of(handle));
  if (module == nullptr) {
    return 0;
  }
  CUlibrary library = nullptr;
  const cudaError_t error =
      run([&](const DriverCalls& calls) { return module->load(calls, library); });
  return error == cudaSuccess ? 1 : 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     CUstream_st* stream) {
  if (t_configurations.count == kMaxDepth) {
    note(cudaErrorLaunchOutOfResources);
    return 1;
  }
  t_configurations.stack[t_configurations.count++] = {.grid = {grid.x, grid.y, grid.z},
                                                      .block = {block.x, block.y, block.z},
                                                      .shared = shared,
                                                      .stream = stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  RETURN_IF(t_configurations.count == 0, note(cudaErrorMissingConfiguration));
  const CallConfiguration& configuration = t_configurations.stack[--t_configurations.count];
  *grid = dim3(configuration.grid[0], configuration.grid[1], configuration.grid[2]);
  *block = dim3(configuration.block[0], configuration.block[1], configuration.block[2]);
  *shared = configuration.shared;
  *static_cast<void**>(stream) = configuration.stream;
  return cudaSuccess;
}

}  // namespace barracuda::emulator::runtime
