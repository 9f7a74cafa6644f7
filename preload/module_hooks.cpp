// Module loading: the driver gets instrumented PTX in place of the program's image.
#include <string>

#include "base/file.h"
#include "preload/code_owner.h"
#include "preload/hook.h"
#include "preload/jit_options.h"
#include "preload/kernel_forms.h"
#include "preload/kernel_parts.h"
#include "preload/machine_code.h"
#include "preload/text_load.h"
#include "session/split_image.h"

namespace barracuda::preload {
namespace {

using session::ProgramImage;
using session::Session;

// The image of one load call; null if nothing can be done with it.
struct Prepared {
  const ProgramImage* image = nullptr;
  std::string owner;  // the library that it came with
  std::string gap;    // why it is not instrumented, where that depends on who loads it
};

// What one load call needs: how to load an instrumented image with JIT options, how to load the
// program's image as it is, and where the handle arrives.
template <typename LoadImage, typename LoadUnchanged>
struct Loader {
  LoadImage load_image;
  LoadUnchanged load_unchanged;
  void (*unload)(session::Handle) = nullptr;
  JitOptions options;
  bool is_library = false;
};

template <typename LoadImage, typename LoadUnchanged>
Loader(LoadImage, LoadUnchanged, void (*)(session::Handle), JitOptions, bool)
    -> Loader<LoadImage, LoadUnchanged>;

// The emulated device executes PTX only, and the image may be machine code.
bool replaces(const ProgramImage& image) {
  return image.instrumented() && (image.logs() || device_choice() == DeviceChoice::kEmulated);
}

template <typename Load, typename Handle>
CUresult load(const HookScope& scope, const Prepared& prepared, Load loader, Handle* handle) {
  const ProgramImage* const image = prepared.image;
  if (image == nullptr) {
    return loader.load_unchanged();
  }
  TextLoad load;
  const bool is_replaced = replaces(*image);
  const bool in_parts = is_replaced && may_load_in_parts(*image, loader.options);
  if (is_replaced) {
    load = load_text(scope, in_parts ? image->split->base() : image->text, loader.options,
                     loader.is_library, loader.load_image);
    if (load.status != CUDA_SUCCESS) {
      scope.run(Loss::kCoverage, [&](Session& session) {
        session.problems().add("a module is loaded without instrumentation: " + load.refusal);
      });
    }
  }
  CUresult status = load.status;
  const std::string& refusal = load.refusal.empty() ? prepared.gap : load.refusal;
  if (!is_replaced || !refusal.empty()) {
    status = loader.load_unchanged();
  }
  const bool is_known = scope.run_always([&](Session& session) {
    if (status == CUDA_SUCCESS) {
      using enum session::ModuleRegistry::Loading;
      session.modules().loaded(handle_of(*handle), loader.is_library, *image, refusal,
                               prepared.owner, in_parts ? kBase : kWhole);
      if (in_parts && refusal.empty()) {
        base_loaded(handle_of(*handle), loader.options);
      }
    } else if (!image->has_ptx && device_choice() == DeviceChoice::kEmulated) {
      session.failures().image_blocked(image->reason);
    }
  });
  // Kernels of a module that nobody knows would be launched without their hidden argument.
  if (!is_known && is_replaced && refusal.empty() && status == CUDA_SUCCESS) {
    loader.unload(handle_of(*handle));
    return loader.load_unchanged();
  }
  if (is_replaced && status == CUDA_SUCCESS) {
    scope.run(Loss::kNothing, [&](Session& session) {
      session.contexts().prepare_launches();
      if (in_parts && refusal.empty()) {
        compile_parts_ahead(*image, loader.is_library, loader.options);
      }
    });
  }
  return status;
}

Prepared prepare(const HookScope& scope, const void* image) {
  Prepared prepared;
  if (image != nullptr) {
    scope.run(Loss::kCoverage, [&](Session& session) {
      prepared.owner = library_of_code(image, HookCall::current()->caller());
      prepared.image = &session.images().prepare(image);
      const std::string advice =
          prepared.image->has_ptx ? "" : advice_on_code(HookCall::current()->caller());
      prepared.gap = advice.empty() ? "" : prepared.image->reason + advice;
    });
  }
  return prepared;
}

// The file's content; the image's text does not point into it.
Prepared prepare_file(const HookScope& scope, const char* name) {
  Prepared prepared;
  if (name == nullptr) {
    return prepared;
  }
  scope.run(Loss::kCoverage, [&](Session& session) {
    const Expected<std::string> content = read_file(name);
    prepared.image = content ? &session.images().prepare_file(*content)
                             : &session.modules().unreadable(content.error().to_string());
  });
  return prepared;
}

CUresult load_module_image(CUmodule* module, const void* instrumented, JitOptions& options) {
  static const OriginalOf<&cuModuleLoadDataEx> original;
  return original(module, instrumented, options.count(), options.names(), options.values());
}

void unload_module(session::Handle module) {
  static const OriginalOf<&cuModuleUnload> original;
  (void)original(
      reinterpret_cast<CUmodule>(module));  // NOLINT(performance-no-int-to-ptr): a handle
}

void unload_library(session::Handle library) {
  static const OriginalOf<&cuLibraryUnload> original;
  (void)original(reinterpret_cast<CUlibrary>(library));  // NOLINT(performance-no-int-to-ptr)
}

template <typename LoadUnchanged>
CUresult load_module(const HookScope& scope, const Prepared& image, CUmodule* module,
                     JitOptions options, const LoadUnchanged& load_unchanged) {
  const auto load_instrumented_image = [module](const void* instrumented, JitOptions& all) {
    return load_module_image(module, instrumented, all);
  };
  return load(
      scope, image,
      Loader{load_instrumented_image, load_unchanged, &unload_module, std::move(options), false},
      module);
}

struct LibraryOptions {
  CUlibraryOption* names;
  void** values;
  unsigned count;
};

// A library is compiled when a context needs it. Where one is current, it is asked for at once, so
// that a refusal shows here, where the unchanged image can still take its place.
CUresult load_library_image(CUlibrary* library, const void* instrumented, JitOptions& jit,
                            const LibraryOptions& options) {
  static const OriginalOf<&cuLibraryLoadData> original;
  static const auto unload = DRIVER_FUNCTION(cuLibraryUnload);
  static const auto get_module = DRIVER_FUNCTION(cuLibraryGetModule);
  static const auto get_context = DRIVER_FUNCTION(cuCtxGetCurrent);
  const CUresult status = original(library, instrumented, jit.names(), jit.values(), jit.count(),
                                   options.names, options.values, options.count);
  CUcontext context = nullptr;
  if (status != CUDA_SUCCESS || get_context(&context) != CUDA_SUCCESS || context == nullptr) {
    return status;
  }
  CUmodule module = nullptr;
  const CUresult compiled = get_module(&module, *library);
  if (compiled != CUDA_SUCCESS) {
    unload(*library);
  }
  return compiled;
}

template <typename LoadUnchanged>
CUresult load_library(const HookScope& scope, const Prepared& image, CUlibrary* library,
                      JitOptions jit, const LibraryOptions& options,
                      const LoadUnchanged& load_unchanged) {
  const auto load_instrumented_image = [&options, library](const void* instrumented,
                                                           JitOptions& all) {
    return load_library_image(library, instrumented, all, options);
  };
  return load(
      scope, image,
      Loader{load_instrumented_image, load_unchanged, &unload_library, std::move(jit), true},
      library);
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* name) {
  static const OriginalOf<&cuModuleLoad> original;
  const HookScope scope;
  return load_module(scope, prepare_file(scope, name), module, {nullptr, nullptr, 0},
                     [&] { return original(module, name); });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  static const OriginalOf<&cuModuleLoadData> original;
  const HookScope scope;
  return load_module(scope, prepare(scope, image), module, {nullptr, nullptr, 0},
                     [&] { return original(module, image); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* names, void** values) {
  static const OriginalOf<&cuModuleLoadDataEx> original;
  const HookScope scope;
  return load_module(scope, prepare(scope, image), module, {names, values, count},
                     [&] { return original(module, image, count, names, values); });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  static const OriginalOf<&cuModuleLoadFatBinary> original;
  const HookScope scope;
  return load_module(scope, prepare(scope, image), module, {nullptr, nullptr, 0},
                     [&] { return original(module, image); });
}

CUresult cuModuleUnload(CUmodule module) {
  return note_and_call<&cuModuleUnload>(
      [&](Session& session) {
        session.before_unload(handle_of(module));
        unload_parts(handle_of(module));
        unload_forms(handle_of(module));
      },
      module);
}

// NOLINTBEGIN(readability-function-size): the driver's signatures
CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* jit_names,
                           void** jit_values, unsigned jit_count, CUlibraryOption* names,
                           void** values, unsigned count) {
  static const OriginalOf<&cuLibraryLoadData> original;
  const HookScope scope;
  const JitOptions options(jit_names, jit_values, jit_count);
  scope.run(Loss::kNothing, [&](Session& session) { compile_program_ahead(session, options); });
  return load_library(scope, prepare(scope, image), library, options,
                      {.names = names, .values = values, .count = count}, [&] {
                        return original(library, image, jit_names, jit_values, jit_count, names,
                                        values, count);
                      });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* name, CUjit_option* jit_names,
                               void** jit_values, unsigned jit_count, CUlibraryOption* names,
                               void** values, unsigned count) {
  static const OriginalOf<&cuLibraryLoadFromFile> original;
  const HookScope scope;
  return load_library(scope, prepare_file(scope, name), library, {jit_names, jit_values, jit_count},
                      {.names = names, .values = values, .count = count}, [&] {
                        return original(library, name, jit_names, jit_values, jit_count, names,
                                        values, count);
                      });
}

// NOLINTEND(readability-function-size)

CUresult cuLibraryUnload(CUlibrary library) {
  return note_and_call<&cuLibraryUnload>(
      [&](Session& session) {
        session.before_unload(handle_of(library));
        unload_parts(handle_of(library));
        unload_forms(handle_of(library));
      },
      library);
}

}  // namespace barracuda::preload
