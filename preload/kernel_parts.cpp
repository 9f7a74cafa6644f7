#include "preload/kernel_parts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/held_lock.h"
#include "preload/hook.h"
#include "preload/machine_code.h"
#include "preload/parts_ahead.h"
#include "preload/text_load.h"
#include "session/split_image.h"
#include "session/uninstrumented_kernels.h"

namespace barracuda::preload {
namespace {

using session::Handle;
using session::LoadedModule;
using session::LoadedPart;

// One part of one loaded module. Made under its mutex, so that two threads that ask for a kernel
// compile it once, and two kernels are compiled at the same time.
struct Part {
  std::mutex mutex;
  bool is_tried = false;
  PartKernel made{.status = CUDA_ERROR_OUT_OF_MEMORY};
};

struct Base {
  explicit Base(JitOptions with) : options(std::move(with)) {}

  const JitOptions options;
  std::mutex mutex;
  std::map<std::string, Part, std::less<>> parts;
  PartsAhead ahead;
};

class Bases {
 public:
  void add(Handle module, const JitOptions& options) {
    const HeldLock lock(mutex_);
    bases_.insert_or_assign(module, std::make_shared<Base>(options));
  }

  std::shared_ptr<Base> find(Handle module) {
    const HeldLock lock(mutex_);
    const auto found = bases_.find(module);
    return found == bases_.end() ? nullptr : found->second;
  }

  std::shared_ptr<Base> take(Handle module) {
    const HeldLock lock(mutex_);
    const auto found = bases_.find(module);
    return found == bases_.end() ? nullptr : std::move(bases_.extract(found).mapped());
  }

 private:
  std::mutex mutex_;
  std::map<Handle, std::shared_ptr<Base>> bases_;
};

Bases& bases() {
  static auto* const all = new Bases;  // hooks may run until the process is gone
  return *all;
}

// NOLINTBEGIN(performance-no-int-to-ptr): handles
CUresult load_library(Handle& part, const void* image, JitOptions& options) {
  static const auto load = DRIVER_FUNCTION(cuLibraryLoadData);
  static const auto unload = DRIVER_FUNCTION(cuLibraryUnload);
  static const auto get_module = DRIVER_FUNCTION(cuLibraryGetModule);
  static const auto get_context = DRIVER_FUNCTION(cuCtxGetCurrent);
  CUlibrary library = nullptr;
  CUresult status = load(&library, image, options.names(), options.values(), options.count(),
                         nullptr, nullptr, 0);
  CUcontext context = nullptr;
  if (status == CUDA_SUCCESS && get_context(&context) == CUDA_SUCCESS && context != nullptr) {
    CUmodule module = nullptr;
    status = get_module(&module, library);  // compiles: a refusal shows here
    if (status != CUDA_SUCCESS) {
      unload(library);
    }
  }
  part = handle_of(library);
  return status;
}

CUresult load_module(Handle& part, const void* image, JitOptions& options) {
  static const auto load = DRIVER_FUNCTION(cuModuleLoadDataEx);
  CUmodule module = nullptr;
  const CUresult status = load(&module, image, options.count(), options.names(), options.values());
  part = handle_of(module);
  return status;
}

CUresult get_kernel(const LoadedPart& part, const char* name, Handle& kernel) {
  static const auto of_library = DRIVER_FUNCTION(cuLibraryGetKernel);
  static const auto of_module = DRIVER_FUNCTION(cuModuleGetFunction);
  if (part.is_library) {
    CUkernel found = nullptr;
    const CUresult status = of_library(&found, reinterpret_cast<CUlibrary>(part.handle), name);
    kernel = handle_of(found);
    return status;
  }
  CUfunction found = nullptr;
  const CUresult status = of_module(&found, reinterpret_cast<CUmodule>(part.handle), name);
  kernel = handle_of(found);
  return status;
}

void unload(const LoadedPart& part) {
  static const auto library_unload = DRIVER_FUNCTION(cuLibraryUnload);
  static const auto module_unload = DRIVER_FUNCTION(cuModuleUnload);
  if (part.is_library) {
    library_unload(reinterpret_cast<CUlibrary>(part.handle));
  } else {
    module_unload(reinterpret_cast<CUmodule>(part.handle));
  }
}

// NOLINTEND(performance-no-int-to-ptr)

PartKernel load_part(const HookScope& scope, const Base& base, const LoadedModule& module,
                     const char* name, const ptx::KernelPart& instrumented) {
  const bool is_library = module.is_library;
  PartKernel made;
  made.part = {.is_library = is_library, .part = &instrumented};
  const auto load_image = [&](const void* image, JitOptions& options) {
    return is_library ? load_library(made.part.handle, image, options)
                      : load_module(made.part.handle, image, options);
  };
  TextLoad load = load_text(scope, instrumented.text, base.options, is_library, load_image);
  if (load.status != CUDA_SUCCESS) {
    made.refusal = std::move(load.refusal);
    made.part.part = module.image->uninstrumented->find(name);
    if (made.part.part != nullptr) {
      JitOptions options = base.options;
      load.status = load_image(made.part.part->text.c_str(), options);
    }
  }
  made.status =
      load.status == CUDA_SUCCESS ? get_kernel(made.part, name, made.kernel) : load.status;
  return made;
}

void compile_next_ahead(Base& base, const LoadedModule& module, std::string_view name) {
  const std::vector<ptx::Kernel>& kernels = module.image->kernels;
  if (!compiles_here() || kernels.size() <= PartsAhead::kMost) {
    return;
  }
  const auto asked = std::ranges::find(kernels, name, &ptx::Kernel::name);
  ASSERT(asked != kernels.end());
  std::vector<std::string_view> texts;
  {
    const HeldLock lock(base.mutex);
    for (const std::size_t next :
         base.ahead.after(static_cast<std::size_t>(asked - kernels.begin()), kernels.size())) {
      if (const auto* const part = module.image->split->find_part(kernels[next].name);
          part != nullptr) {
        texts.push_back(part->text);
      }
    }
  }
  compile_ahead(texts, base.options, module.is_library);
}

}  // namespace

bool may_load_in_parts(const session::ProgramImage& image, const JitOptions& options) {
  return image.split != nullptr && options.compiler_flags().has_value() && !loads_all_at_once();
}

void base_loaded(Handle module, const JitOptions& options) {
  bases().add(module, options.without_places());
}

void compile_parts_ahead(const session::ProgramImage& image, bool is_library,
                         const JitOptions& options) {
  if (!compiles_here() || image.kernels.size() > PartsAhead::kMost) {
    return;
  }
  std::vector<std::string_view> texts;
  for (const ptx::Kernel& kernel : image.kernels) {
    if (const ptx::KernelPart* const part = image.split->find_part(kernel.name); part != nullptr) {
      texts.push_back(part->text);
    }
  }
  compile_ahead(texts, options.without_places(), is_library);
}

PartKernel find_part(const HookScope& scope, Handle owner, const char* name) {
  session::Session* const session = existing_session();
  if (!scope.is_outermost() || session == nullptr || name == nullptr) {
    return {};
  }
  std::shared_ptr<const LoadedModule> module;
  const ptx::KernelPart* part = nullptr;
  std::shared_ptr<Base> base;
  const bool is_known = scope.run_always([&](session::Session& with) {
    module = with.modules().find_module(owner);
    if (module != nullptr && module->is_split) {
      part = module->image->split->find_part(name);
      base = bases().find(module->handle);
    }
  });
  if (!is_known) {
    return {.status = CUDA_ERROR_OUT_OF_MEMORY};
  }
  if (part == nullptr || base == nullptr) {
    return {};
  }
  PartKernel found{.status = CUDA_ERROR_OUT_OF_MEMORY};
  scope.run_always([&](session::Session& with) {
    Part* state = nullptr;
    {
      const HeldLock lock(base->mutex);
      state = &base->parts[name];
    }
    const HeldLock lock(state->mutex);
    if (!state->is_tried) {
      compile_next_ahead(*base, *module, name);
      state->made = load_part(scope, *base, *module, name, *part);
      state->is_tried = true;
      if (!state->made.refusal.empty()) {
        with.problems().add("a kernel is loaded without instrumentation: " + state->made.refusal);
      }
    }
    found = state->made;
  });
  return found;
}

CUfunction function_of_kernel(Handle kernel) {
  static const auto get_function = DRIVER_FUNCTION(cuKernelGetFunction);
  CUfunction function = nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle
  const CUresult status = get_function(&function, reinterpret_cast<CUkernel>(kernel));
  return status == CUDA_SUCCESS ? function : nullptr;
}

void unload_parts(Handle module) {
  const std::shared_ptr<Base> base = bases().take(module);
  if (base == nullptr) {
    return;
  }
  const HeldLock lock(base->mutex);
  for (auto& [name, part] : base->parts) {
    const HeldLock not_now_loading(part.mutex);
    if (part.made.status == CUDA_SUCCESS) {
      unload(part.made.part);
    }
  }
}

}  // namespace barracuda::preload
