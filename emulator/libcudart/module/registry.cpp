#include "emulator/libcudart/module/registry.h"

#include <algorithm>
#include <array>
#include <utility>

namespace barracuda::emulator::runtime {

CUresult RegisteredModule::load(const DriverCalls& calls, CUlibrary& library) {
  const std::lock_guard lock(mutex_);
  if (!is_tried_) {
    is_tried_ = true;
    // The image is in the program itself. The value of an option is in the pointer.
    std::array options = {CU_LIBRARY_BINARY_IS_PRESERVED};
    std::array<void*, 1> values = {reinterpret_cast<void*>(std::uintptr_t{1})};
    status_ = calls.cuLibraryLoadData(&library_, wrapper_, nullptr, nullptr, 0, options.data(),
                                      values.data(), options.size());
    if (status_ == CUDA_SUCCESS) {
      status_ = set_managed_pointers(calls);
    }
  }
  library = library_;
  return status_;
}

CUlibrary RegisteredModule::release_library() {
  const std::lock_guard lock(mutex_);
  return std::exchange(library_, nullptr);
}

void RegisteredModule::add_managed(void** host_pointer, std::string name) {
  const std::lock_guard lock(mutex_);
  managed_.push_back({.host_pointer = host_pointer, .name = std::move(name)});
}

void RegisteredModule::renew_managed(const DriverCalls& calls) {
  const std::lock_guard lock(mutex_);
  if (library_ != nullptr) {
    set_managed_pointers(calls);
  }
}

CUresult RegisteredModule::set_managed_pointers(const DriverCalls& calls) {
  for (const ManagedVariable& variable : managed_) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    if (const CUresult status =
            calls.cuLibraryGetManaged(&address, &bytes, library_, variable.name.c_str());
        status != CUDA_SUCCESS) {
      return status;
    }
    *variable.host_pointer = reinterpret_cast<void*>(address);
  }
  return CUDA_SUCCESS;
}

RegisteredModule* Registry::add_module(const void* wrapper) {
  const std::lock_guard lock(mutex_);
  modules_.push_back(std::make_shared<RegisteredModule>(wrapper));
  return modules_.back().get();
}

std::shared_ptr<RegisteredModule> Registry::find_locked(const RegisteredModule* module) {
  const auto found = std::ranges::find(modules_, module, &std::shared_ptr<RegisteredModule>::get);
  return found == modules_.end() ? nullptr : *found;
}

std::shared_ptr<RegisteredModule> Registry::find_module(const RegisteredModule* module) {
  const std::lock_guard lock(mutex_);
  return find_locked(module);
}

std::shared_ptr<RegisteredModule> Registry::remove_module(const RegisteredModule* module) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<RegisteredModule> removed = find_locked(module);
  if (removed != nullptr) {
    std::erase(modules_, removed);
    const auto is_of_module = [&](const auto& item) { return item.second.module == removed; };
    std::erase_if(functions_, is_of_module);
    std::erase_if(variables_, is_of_module);
  }
  return removed;
}

void Registry::add_function(RegisteredModule* module, const void* host, std::string name) {
  const std::lock_guard lock(mutex_);
  functions_[host] = {.module = find_locked(module), .name = std::move(name)};
}

void Registry::add_variable(RegisteredModule* module, const void* host, RegisteredSymbol variable) {
  const std::lock_guard lock(mutex_);
  variable.module = find_locked(module);
  variables_[host] = std::move(variable);
}

void Registry::add_managed_variable(RegisteredModule* module, void** host,
                                    RegisteredSymbol variable) {
  const std::lock_guard lock(mutex_);
  variable.module = find_locked(module);
  if (variable.module != nullptr) {
    variable.module->add_managed(host, variable.name);
  }
  variables_[host] = std::move(variable);
}

cudaError_t Registry::find_kernel(const DriverCalls& calls, const void* host, CUkernel& kernel) {
  RegisteredSymbol symbol;
  {
    const std::lock_guard lock(mutex_);
    const auto found = functions_.find(host);
    if (found == functions_.end() || found->second.module == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    symbol = found->second;
  }
  if (symbol.kernel != nullptr) {
    kernel = symbol.kernel;
    return cudaSuccess;
  }
  CUlibrary library = nullptr;
  if (const CUresult status = symbol.module->load(calls, library); status != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(status);
  }
  const CUresult status = calls.cuLibraryGetKernel(&kernel, library, symbol.name.c_str());
  if (status != CUDA_SUCCESS) {
    return status == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction
                                          : static_cast<cudaError_t>(status);
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = functions_.find(host); found != functions_.end()) {
    found->second.kernel = kernel;
  }
  return cudaSuccess;
}

void Registry::note_refused_launch(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(host);
  if (found != functions_.end() && found->second.kernel == nullptr) {
    ++refused_launches_[found->second.name];
  }
}

std::vector<std::pair<std::string, std::uint64_t>> Registry::refused_launches() {
  const std::lock_guard lock(mutex_);
  return {refused_launches_.begin(), refused_launches_.end()};
}

void* Registry::stub_of(const DriverCalls& calls, CUfunction function) {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, symbol] : functions_) {
    CUfunction candidate = nullptr;
    if (symbol.kernel != nullptr &&
        calls.cuKernelGetFunction(&candidate, symbol.kernel) == CUDA_SUCCESS &&
        candidate == function) {
      return const_cast<void*>(host);
    }
  }
  return function;
}

cudaError_t Registry::find_variable(const DriverCalls& calls, const void* host,
                                    CUdeviceptr& address, std::size_t& bytes) {
  RegisteredSymbol symbol;
  {
    const std::lock_guard lock(mutex_);
    const auto found = variables_.find(host);
    if (found == variables_.end() || found->second.module == nullptr) {
      return cudaErrorInvalidSymbol;
    }
    symbol = found->second;
  }
  CUlibrary library = nullptr;
  if (const CUresult status = symbol.module->load(calls, library); status != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(status);
  }
  const CUresult status = calls.cuLibraryGetGlobal(&address, &bytes, library, symbol.name.c_str());
  if (status == CUDA_ERROR_NOT_FOUND) {
    return cudaErrorInvalidSymbol;
  }
  return static_cast<cudaError_t>(status);
}

void Registry::renew_managed_variables(const DriverCalls& calls) {
  std::vector<std::shared_ptr<RegisteredModule>> modules;
  {
    const std::lock_guard lock(mutex_);
    modules = modules_;
  }
  for (const std::shared_ptr<RegisteredModule>& module : modules) {
    module->renew_managed(calls);
  }
}

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

}  // namespace barracuda::emulator::runtime
