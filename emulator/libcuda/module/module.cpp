#include "emulator/libcuda/module/module.h"

#include <algorithm>
#include <cstring>

#include "emulator/libcuda.h"
#include "emulator/libcuda/context/device.h"
#include "emulator/libcuda/memory/allocation.h"

namespace barracuda::emulator::driver {
namespace {

struct Modules {
  HandleTable<Module, CUmodule> modules;
  HandleTable<Function, CUfunction> functions;
  HandleTable<Library, CUlibrary> libraries;
};

Modules& tables() {
  static auto* const instance = new Modules;
  return *instance;
}

// The value of an option is in the pointer itself.
std::size_t number_of(const void* value) {
  return reinterpret_cast<std::size_t>(value);
}

}  // namespace

tl::expected<std::shared_ptr<Module>, ImageRefusal> Module::load(ptx::Module ptx, Context* owner) {
  auto module = std::make_shared<Module>();
  module->owner_ = owner;
  module->ptx_ = std::make_shared<const ptx::Module>(std::move(ptx));
  for (const ptx::Function& function : module->ptx_->functions) {
    if (function.is_entry && function.has_body) {
      module->add_function(function);
    }
  }
  for (const ptx::Statement& statement : module->ptx_->statements) {
    for (const ptx::Variable& variable : statement.variables) {
      if (variable.is_managed) {
        module->managed_.emplace(variable.name);
      }
    }
  }
  Expected<std::shared_ptr<LoadedModule>> loaded = machine().load(module->ptx_);
  if (!loaded) {
    return tl::unexpected(ImageRefusal{CUDA_ERROR_INVALID_PTX, loaded.error().to_string()});
  }
  module->loaded_ = std::move(*loaded);
  for (const auto& [name, function] : module->functions_) {
    function->kernel = Machine::find_kernel(*module->loaded_, name);
    if (function->kernel == nullptr) {
      return tl::unexpected(
          ImageRefusal{CUDA_ERROR_INVALID_PTX, "the device does not know kernel " + name});
    }
    function->attributes = Machine::attributes(*function->kernel);
    function->max_dynamic_shared =
        std::max(0, device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) -
                        static_cast<int>(function->attributes.static_shared_bytes));
  }
  return module;
}

void Module::add_function(const ptx::Function& function) {
  auto added = std::make_unique<Function>();
  added->module = this;
  added->name = function.name;
  added->parameters = ptx::parameter_layout(function);
  added->bounds = function.bounds;
  functions_[added->name] = std::move(added);
}

std::optional<GlobalVariable> Module::variable(std::string_view name) {
  if (ensure_loaded() != CUDA_SUCCESS) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  return Machine::find_variable(*loaded_, name);
}

bool Module::is_managed(std::string_view name) const {
  return managed_.contains(name);
}

CUresult Module::ensure_loaded() {
  const std::lock_guard lock(mutex_);
  if (loaded_ != nullptr) {
    return CUDA_SUCCESS;
  }
  Expected<std::shared_ptr<LoadedModule>> loaded = machine().load(ptx_);
  if (!loaded) {
    return CUDA_ERROR_OUT_OF_MEMORY;  // it has been loaded before: only its variables can fail
  }
  loaded_ = std::move(*loaded);
  for (const auto& [name, function] : functions_) {
    function->kernel = Machine::find_kernel(*loaded_, name);
  }
  return CUDA_SUCCESS;
}

void Module::take_off_device() {
  const std::lock_guard lock(mutex_);
  if (loaded_ == nullptr) {
    return;
  }
  for (const std::string& name : managed_) {
    if (const auto variable = Machine::find_variable(*loaded_, name)) {
      forget_variable(variable->address);
    }
  }
  for (const auto& [name, function] : functions_) {
    function->kernel = nullptr;
  }
  loaded_.reset();
}

CUmodule publish(const std::shared_ptr<Module>& module) {
  for (const auto& [name, function] : module->functions()) {
    tables().functions.insert(std::shared_ptr<Function>(module, function.get()));
  }
  return tables().modules.insert(module);
}

void withdraw(Module& module) {
  for (const auto& [name, function] : module.functions()) {
    tables().functions.extract(function_handle(*function));
  }
  tables().modules.extract(module.handle());
}

std::shared_ptr<Module> find_module(CUmodule handle) {
  return tables().modules.find(handle);
}

std::shared_ptr<Function> find_function_handle(CUfunction handle) {
  return tables().functions.find(handle);
}

HandleTable<Library, CUlibrary>& libraries() {
  return tables().libraries;
}

void release_modules(const Context& context) {
  std::vector<CUmodule> owned;
  tables().modules.for_each([&](Module& module) {
    if (module.owner() == &context) {
      owned.push_back(module.handle());
    } else if (module.owner() == nullptr && context.is_primary) {
      module.take_off_device();
    }
  });
  for (const CUmodule handle : owned) {
    if (const std::shared_ptr<Module> module = find_module(handle)) {
      withdraw(*module);
    }
  }
}

void write_error_log(const JitOptions& options, std::string_view message) {
  char* buffer = nullptr;
  std::size_t capacity = 0;
  void** written = nullptr;
  for (unsigned index = 0; index < options.count; ++index) {
    if (options.names[index] == CU_JIT_ERROR_LOG_BUFFER) {
      buffer = static_cast<char*>(options.values[index]);
    } else if (options.names[index] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      capacity = number_of(options.values[index]) & 0xffffffffU;
      written = &options.values[index];
    }
  }
  if (buffer == nullptr || capacity == 0) {
    return;
  }
  const std::size_t count = std::min(message.size(), capacity - 1);
  std::memcpy(buffer, message.data(), count);
  buffer[count] = '\0';
  *written = reinterpret_cast<void*>(count);
}

}  // namespace barracuda::emulator::driver
