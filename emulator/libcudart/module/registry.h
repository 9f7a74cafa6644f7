// What nvcc's host code registers: fat binaries, and the host addresses that stand for kernels and
// variables. Registration touches no driver: a module is loaded at the first use of one of its
// symbols.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {

class RegisteredModule {
 public:
  explicit RegisteredModule(const void* wrapper) : wrapper_(wrapper) {}

  // Loads it if that has not been tried; the same answer every time.
  CUresult load(const DriverCalls& calls, CUlibrary& library);
  // The library that has been loaded, or null; it is then no longer this object's.
  CUlibrary release_library();
  void add_managed(void** host_pointer, std::string name);
  void renew_managed(const DriverCalls& calls);

 private:
  CUresult set_managed_pointers(const DriverCalls& calls);

  struct ManagedVariable {
    void** host_pointer;
    std::string name;
  };

  const void* wrapper_;
  std::mutex mutex_;
  bool is_tried_ = false;
  CUresult status_ = CUDA_SUCCESS;
  CUlibrary library_ = nullptr;
  std::vector<ManagedVariable> managed_;
};

struct RegisteredSymbol {
  std::shared_ptr<RegisteredModule> module;
  std::string name;
  std::size_t bytes = 0;  // of a variable
  CUkernel kernel = nullptr;
};

class Registry {
 public:
  RegisteredModule* add_module(const void* wrapper);
  // The module, which then is registered no more; null for an unknown handle.
  std::shared_ptr<RegisteredModule> remove_module(const RegisteredModule* module);
  std::shared_ptr<RegisteredModule> find_module(const RegisteredModule* module);
  void add_function(RegisteredModule* module, const void* host, std::string name);
  void add_variable(RegisteredModule* module, const void* host, RegisteredSymbol variable);
  void add_managed_variable(RegisteredModule* module, void** host, RegisteredSymbol variable);

  // Status cudaErrorInvalidDeviceFunction, cudaErrorInvalidSymbol: nothing is registered there.
  cudaError_t find_kernel(const DriverCalls& calls, const void* host, CUkernel& kernel);
  // A launch of the kernel failed for want of its module.
  void note_refused_launch(const void* host);
  // By name of the kernel.
  std::vector<std::pair<std::string, std::uint64_t>> refused_launches();
  // The host address of a kernel's function; the function itself if nothing is registered for it.
  void* stub_of(const DriverCalls& calls, CUfunction function);
  cudaError_t find_variable(const DriverCalls& calls, const void* host, CUdeviceptr& address,
                            std::size_t& bytes);
  void renew_managed_variables(const DriverCalls& calls);

 private:
  std::shared_ptr<RegisteredModule> find_locked(const RegisteredModule* module);

  std::mutex mutex_;
  std::vector<std::shared_ptr<RegisteredModule>> modules_;
  std::map<const void*, RegisteredSymbol> functions_, variables_;
  std::map<std::string, std::uint64_t> refused_launches_;
};

// Never destroyed: nvcc's code unregisters while the process exits.
Registry& registry();

}  // namespace barracuda::emulator::runtime
