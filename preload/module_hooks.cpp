// Module loading: the driver gets instrumented PTX in place of the program's image.
#include <string>
#include <string_view>

#include "base/file.h"
#include "fatbin/fatbin.h"
#include "preload/code_origins.h"
#include "preload/hook.h"
#include "preload/jit_options.h"
#include "preload/machine_code.h"

namespace barracuda::preload {
namespace {

using session::ProgramImage;
using session::Session;

// Filled by the driver's compiler; it may do so later than the call that hands it over.
char g_jit_log[8192];

std::string refusal_of(CUresult status) {
  std::string text = g_jit_log;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  for (char& character : text) {
    character = character == '\n' ? ' ' : character;
  }
  return "the driver refused its instrumented PTX (error " + std::to_string(status) +
         (text.empty() ? ")" : ": " + text + ")");
}

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

// As machine code where it can be had, else as a text for the driver to compile.
template <typename Load>
CUresult load_instrumented(const HookScope& scope, const std::string& text, Load& loader) {
  std::string_view code;
  scope.run(Loss::kNothing, [&](Session&) {
    code = find_machine_code(text, loader.options, loader.is_library);
  });  // the driver compiles
  const CUresult of_code =
      code.empty() ? CUDA_ERROR_INVALID_IMAGE : loader.load_image(code.data(), loader.options);
  if (of_code == CUDA_SUCCESS) {
    return of_code;
  }
  const CUresult of_text = loader.load_image(text.c_str(), loader.options);
  // Memory that could not be had says nothing of the code.
  if (!code.empty() && of_code != CUDA_ERROR_OUT_OF_MEMORY) {
    scope.run(Loss::kNothing, [&](Session&) {
      forget_machine_code(text, loader.options, loader.is_library, of_text == CUDA_SUCCESS);
    });
  }
  return of_text;
}

// The emulated device executes PTX only, and the image may be machine code.
bool replaces(const ProgramImage& image) {
  return image.instrumented() && (image.logs() || device_choice() == DeviceChoice::kEmulated);
}

template <typename Load, typename Handle>
CUresult load(const HookScope& scope, const ProgramImage* image, Load loader, Handle* handle) {
  if (image == nullptr) {
    return loader.load_unchanged();
  }
  std::string refusal;
  CUresult status = CUDA_ERROR_UNKNOWN;
  const bool is_replaced = replaces(*image);
  if (is_replaced) {
    status = load_instrumented(scope, image->text, loader);
    if (status != CUDA_SUCCESS) {
      g_jit_log[0] = '\0';
      loader.options.set(CU_JIT_OPTIMIZATION_LEVEL, nullptr);
      loader.options.set(CU_JIT_ERROR_LOG_BUFFER, g_jit_log);
      // NOLINTNEXTLINE(performance-no-int-to-ptr): as CUDA wants the size
      void* const bytes = reinterpret_cast<void*>(sizeof g_jit_log - 1);
      loader.options.set(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, bytes);
      status = loader.load_image(image->text.c_str(), loader.options);
    }
    if (status != CUDA_SUCCESS) {
      refusal = refusal_of(status);
      scope.run(Loss::kCoverage, [&](Session& session) {
        session.problems().add("a module is loaded without instrumentation: " + refusal);
      });
    }
  }
  if (!is_replaced || !refusal.empty()) {
    status = loader.load_unchanged();
  }
  const bool is_known = scope.run_always([&](Session& session) {
    if (status == CUDA_SUCCESS) {
      session.modules().loaded(handle_of(*handle), loader.is_library, *image, refusal);
    } else if (!image->has_ptx && device_choice() == DeviceChoice::kEmulated) {
      session.image_blocked(image->reason);
    }
  });
  // Kernels of a module that nobody knows would be launched without their hidden argument.
  if (!is_known && is_replaced && refusal.empty() && status == CUDA_SUCCESS) {
    loader.unload(handle_of(*handle));
    return loader.load_unchanged();
  }
  return status;
}

// Of machine code that this process made, the PTX that it was made of takes its place.
const ProgramImage& prepare_known(Session& session, const void* image) {
  const bool is_machine_code = fatbin::kind_of_image(image) == fatbin::ImageKind::kCubin;
  const session::CodeOrigin* const origin = is_machine_code ? find_origin(image) : nullptr;
  return origin == nullptr ? session.prepare(image) : session.prepare_origin(*origin);
}

const ProgramImage* prepare(const HookScope& scope, const void* image) {
  const ProgramImage* prepared = nullptr;
  if (image != nullptr) {
    scope.run(Loss::kCoverage,
              [&](Session& session) { prepared = &prepare_known(session, image); });
  }
  return prepared;
}

// The file's content; the image's text does not point into it.
const ProgramImage* prepare_file(const HookScope& scope, const char* name) {
  const ProgramImage* prepared = nullptr;
  if (name == nullptr) {
    return prepared;
  }
  scope.run(Loss::kCoverage, [&](Session& session) {
    const Expected<std::string> content = read_file(name);
    prepared = content ? &session.prepare_file(*content)
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
CUresult load_module(const HookScope& scope, const ProgramImage* image, CUmodule* module,
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
CUresult load_library(const HookScope& scope, const ProgramImage* image, CUlibrary* library,
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
      [&](Session& session) { session.before_unload(handle_of(module)); }, module);
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
      [&](Session& session) { session.before_unload(handle_of(library)); }, library);
}

}  // namespace barracuda::preload
