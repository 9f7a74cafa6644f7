// Loaded modules and their functions. A module belongs to a context, or to a library, which
// outlives contexts: after a reset it is placed anew at its next use, and its functions keep their
// handles. CUfunction and CUkernel are the same object.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/module/image.h"
#include "emulator/machine.h"
#include "ptx/abi.h"

namespace barracuda::emulator::driver {

class Module;

struct Function {
  Module* module = nullptr;
  std::string name;
  ptx::ParameterLayout parameters;
  ptx::LaunchBounds bounds;
  KernelAttributes attributes;
  const LoadedKernel* kernel = nullptr;
  std::atomic<int> max_dynamic_shared{0};
  std::atomic<int> carveout{-1};
  std::atomic<bool> non_portable_cluster{false};
};

class Module {
 public:
  // Places the PTX on the device. Null owner: a library's.
  static tl::expected<std::shared_ptr<Module>, ImageRefusal> load(ptx::Module ptx, Context* owner);
  Module() = default;

  ~Module() { take_off_device(); }

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  [[nodiscard]] Context* owner() const { return owner_; }

  [[nodiscard]] CUmodule handle() { return HandleTable<Module, CUmodule>::handle_of(*this); }

  // Every function of the module, by name.
  [[nodiscard]] const std::map<std::string, std::unique_ptr<Function>, std::less<>>& functions()
      const {
    return functions_;
  }

  [[nodiscard]] std::optional<GlobalVariable> variable(std::string_view name);
  [[nodiscard]] bool is_managed(std::string_view name) const;
  CUlibrary library = nullptr;

  // Places the module again after take_off_device(), with its variables as at the start.
  CUresult ensure_loaded();
  void take_off_device();

 private:
  void add_function(const ptx::Function& function);

  Context* owner_ = nullptr;
  std::shared_ptr<const ptx::Module> ptx_;
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions_;
  std::set<std::string, std::less<>> managed_;
  std::mutex mutex_;
  std::shared_ptr<LoadedModule> loaded_;
};

struct Library {
  std::shared_ptr<Module> module;
};

// Makes the module's handles valid, and invalid again.
CUmodule publish(const std::shared_ptr<Module>& module);
void withdraw(Module& module);

std::shared_ptr<Module> find_module(CUmodule handle);
std::shared_ptr<Function> find_function_handle(CUfunction handle);
HandleTable<Library, CUlibrary>& libraries();
void release_modules(const Context& context);

inline CUkernel kernel_handle(Function& function) {
  return reinterpret_cast<CUkernel>(&function);
}

inline CUfunction function_handle(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

inline CUfunction function_handle(Function& function) {
  return reinterpret_cast<CUfunction>(&function);
}

// Options of the just-in-time compiler that have meaning here: where error messages go.
struct JitOptions {
  unsigned count = 0;
  CUjit_option* names = nullptr;
  void** values = nullptr;
};

void write_error_log(const JitOptions& options, std::string_view message);

}  // namespace barracuda::emulator::driver
