// Kernel handles: which function is which kernel, and what a program may see of it: the hidden
// parameter and the descriptor word in shared memory are not the program's.
#include <algorithm>
#include <memory>
#include <span>

#include "base/assert.h"
#include "preload/hook.h"
#include "preload/kernel_parts.h"

namespace barracuda::preload {
namespace {

using session::KernelBinding;
using session::Session;

// How much of a kernel's static shared memory is there for the word that it keeps its descriptor
// in: more than the word where the dynamic part is aligned to more.
int bytes_for_word(const KernelBinding& kernel, int static_bytes) {
  constexpr int kWordBytes = wire::kBlockWordsBytes;
  const int own = static_cast<int>(kernel.kernel->shared_bytes);
  const int word = static_bytes >= own ? static_bytes - own : std::min(kWordBytes, static_bytes);
  DEBUG_ASSERT(0 <= word && word <= static_bytes);
  return word;
}

// The program has got a handle of a kernel. One that the tool does not know, but has instrumented,
// would be launched without its hidden argument: then the program must not have it.
template <typename Work>
CUresult keep_known(const HookScope& scope, const Work& work) {
  return scope.run_always(work) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

std::shared_ptr<const KernelBinding> find_known(const HookScope& scope, session::Handle function) {
  std::shared_ptr<const KernelBinding> kernel;
  scope.run(Loss::kCoverage, [&](Session& session) { kernel = session.modules().find(function); });
  return kernel;
}

std::shared_ptr<const KernelBinding> find_instrumented(const HookScope& scope,
                                                       session::Handle function) {
  auto kernel = find_known(scope, function);
  return kernel != nullptr && kernel->instrumented() ? kernel : nullptr;
}

bool is_hidden_parameter(const HookScope& scope, session::Handle function, std::size_t index) {
  const auto kernel = find_instrumented(scope, function);
  return kernel != nullptr && index >= kernel->kernel->parameters.size();
}

void hide_descriptor_word(const HookScope& scope, session::Handle function,
                          CUfunction_attribute attribute, int* value) {
  const bool is_static = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
  const bool is_dynamic = attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const auto kernel =
      (is_static || is_dynamic) && value != nullptr ? find_instrumented(scope, function) : nullptr;
  if (kernel == nullptr) {
    return;
  }
  if (is_static) {
    *value -= bytes_for_word(*kernel, *value);
  } else if (const std::uint32_t asked = kernel->asked_shared; asked != 0) {
    *value = static_cast<int>(asked);
  }
}

// What a kernel's shared memory is limited by. Attributes of a CUfunction; a CUkernel has them for
// each device.
struct FunctionAttributes {
  CUfunction function;

  CUresult read(CUfunction_attribute attribute, int& value) const {
    static const auto original = DRIVER_FUNCTION(cuFuncGetAttribute);
    return original(&value, attribute, function);
  }

  [[nodiscard]] CUresult write(CUfunction_attribute attribute, int value) const {
    static const auto original = DRIVER_FUNCTION(cuFuncSetAttribute);
    return original(function, attribute, value);
  }
};

struct KernelAttributes {
  CUkernel kernel;
  CUdevice device;

  CUresult read(CUfunction_attribute attribute, int& value) const {
    static const auto original = DRIVER_FUNCTION(cuKernelGetAttribute);
    return original(&value, attribute, kernel, device);
  }

  [[nodiscard]] CUresult write(CUfunction_attribute attribute, int value) const {
    static const auto original = DRIVER_FUNCTION(cuKernelSetAttribute);
    return original(attribute, value, kernel, device);
  }
};

CUdevice current_device() {
  static const auto original = DRIVER_FUNCTION(cuCtxGetDevice);
  CUdevice device = 0;
  return original(&device) == CUDA_SUCCESS ? device : 0;
}

// Static and dynamic shared memory may be so much together unless a kernel is allowed more.
// Our word must not shrink the program's share.
template <typename Attributes>
void allow_for_word(const HookScope& scope, session::Handle handle, const Attributes& attributes) {
  constexpr int kWithoutAsking = 48 * 1024;
  const auto kernel = find_instrumented(scope, handle);
  int fixed = 0;
  int dynamic = 0;
  if (kernel != nullptr &&
      attributes.read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, fixed) == CUDA_SUCCESS &&
      attributes.read(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic) == CUDA_SUCCESS &&
      fixed + dynamic == kWithoutAsking) {
    (void)attributes.write(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           dynamic + bytes_for_word(*kernel, fixed));
  }
}

FunctionAttributes attributes_of(CUfunction function) {
  return {function};
}

KernelAttributes attributes_of(CUkernel kernel) {
  return {.kernel = kernel, .device = current_device()};
}

// `note` says which kernel the handle is of.
template <typename Kernel, typename Note>
CUresult note_kernel(const HookScope& scope, Kernel kernel, const Note& note) {
  const CUresult status = keep_known(scope, note);
  allow_for_word(scope, handle_of(kernel), attributes_of(kernel));
  return status;
}

void take_part(CUkernel& kernel, const PartKernel& found) {
  kernel = reinterpret_cast<CUkernel>(found.kernel);  // NOLINT(performance-no-int-to-ptr)
}

void take_part(CUfunction& function, const PartKernel& found) {
  function = found.part.is_library ? function_of_kernel(found.kernel)
                                   // NOLINTNEXTLINE(performance-no-int-to-ptr)
                                   : reinterpret_cast<CUfunction>(found.kernel);
}

// The driver has given the program a kernel of a module or library; the program gets the one that
// is compiled by itself instead where there is one.
template <typename Kernel>
CUresult kernel_found(const HookScope& scope, session::Handle owner, const char* name,
                      Kernel& kernel) {
  const PartKernel found = find_part(scope, owner, name);
  if (found.status == CUDA_SUCCESS && found.kernel != session::Handle{}) {
    take_part(kernel, found);
  }
  if (found.status != CUDA_SUCCESS || kernel == nullptr) {
    return found.status != CUDA_SUCCESS ? found.status : CUDA_ERROR_OUT_OF_MEMORY;
  }
  return note_kernel(scope, kernel, [&](Session& session) {
    session.modules().kernel_found(owner, name, handle_of(kernel), found.part, found.refusal);
  });
}

// Gets handles of kernels of a module or library from the driver; the driver's other functions say
// how many there are and what their names are.
template <auto Hook, typename Kernel, typename Owner, typename Count, typename Name>
CUresult enumerate(Kernel* kernels, unsigned count, Owner owner, const Count& get_count,
                   const Name& get_name) {
  static const OriginalOf<Hook> original;
  const HookScope scope;
  CUresult status = original(kernels, count, owner);
  unsigned present = 0;
  if (status != CUDA_SUCCESS || get_count(&present, owner) != CUDA_SUCCESS) {
    return status;
  }
  for (Kernel& kernel : std::span(kernels, std::min(count, present))) {
    const char* name = nullptr;
    if (status == CUDA_SUCCESS && get_name(&name, kernel) == CUDA_SUCCESS && name != nullptr) {
      status = kernel_found(scope, handle_of(owner), name, kernel);
    }
  }
  return status;
}

// The program may ask for as much as the device has without our word: it gets what there is. Many
// ask for all and take less (Triton does); a launch that takes more is one of the program's own
// kernel (kernel_forms.h).
template <typename Attributes>
CUresult set_attribute(const HookScope& scope, session::Handle handle, const Attributes& attributes,
                       CUfunction_attribute attribute, int value) {
  static const auto device_attribute = DRIVER_FUNCTION(cuDeviceGetAttribute);
  const CUresult status = attributes.write(attribute, value);
  const auto kernel = attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                          ? find_instrumented(scope, handle)
                          : nullptr;
  if (kernel != nullptr && status == CUDA_SUCCESS) {
    kernel->asked_shared = 0;
  }
  int fixed = 0;
  int most = 0;
  if (kernel == nullptr || status != CUDA_ERROR_INVALID_VALUE ||
      attributes.read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, fixed) != CUDA_SUCCESS ||
      device_attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                       current_device()) != CUDA_SUCCESS ||
      value > most - fixed + bytes_for_word(*kernel, fixed)) {
    return status;
  }
  const CUresult clamped = attributes.write(attribute, most - fixed);
  if (clamped == CUDA_SUCCESS) {
    kernel->asked_shared = static_cast<std::uint32_t>(value);
  }
  return clamped;
}

}  // namespace

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  static const OriginalOf<&cuModuleGetFunction> original;
  const HookScope scope;
  const CUresult status = original(function, module, name);
  return status != CUDA_SUCCESS ? status : kernel_found(scope, handle_of(module), name, *function);
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  static const auto get_count = DRIVER_FUNCTION(cuModuleGetFunctionCount);
  static const auto get_name = DRIVER_FUNCTION(cuFuncGetName);
  return enumerate<&cuModuleEnumerateFunctions>(functions, count, module, get_count, get_name);
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  static const OriginalOf<&cuLibraryGetKernel> original;
  const HookScope scope;
  const CUresult status = original(kernel, library, name);
  return status != CUDA_SUCCESS ? status : kernel_found(scope, handle_of(library), name, *kernel);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  static const OriginalOf<&cuLibraryGetModule> original;
  const HookScope scope;
  const CUresult status = original(module, library);
  return status != CUDA_SUCCESS ? status : keep_known(scope, [&](Session& session) {
    session.modules().module_of_library(handle_of(*module), handle_of(library));
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  static const auto get_count = DRIVER_FUNCTION(cuLibraryGetKernelCount);
  static const auto get_name = DRIVER_FUNCTION(cuKernelGetName);
  return enumerate<&cuLibraryEnumerateKernels>(kernels, count, library, get_count, get_name);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  static const OriginalOf<&cuKernelGetFunction> original;
  const HookScope scope;
  const CUresult status = original(function, kernel);
  return status != CUDA_SUCCESS ? status : note_kernel(scope, *function, [&](Session& session) {
    session.modules().same_kernel(handle_of(*function), handle_of(kernel));
  });
}

// A kernel by itself is of the module or library that the program has loaded.
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  static const OriginalOf<&cuKernelGetLibrary> original;
  const HookScope scope;
  const CUresult status = original(library, kernel);
  const auto known = status == CUDA_SUCCESS ? find_known(scope, handle_of(kernel)) : nullptr;
  if (known != nullptr && known->part.handle != session::Handle{}) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle
    *library = reinterpret_cast<CUlibrary>(known->module->handle);
  }
  return status;
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  static const OriginalOf<&cuFuncGetModule> original;
  static const auto module_of_library = DRIVER_FUNCTION(cuLibraryGetModule);
  const HookScope scope;
  const CUresult status = original(module, function);
  const auto known = status == CUDA_SUCCESS ? find_known(scope, handle_of(function)) : nullptr;
  if (known == nullptr || known->part.handle == session::Handle{}) {
    return status;
  }
  // NOLINTBEGIN(performance-no-int-to-ptr): handles
  if (!known->part.is_library) {
    *module = reinterpret_cast<CUmodule>(known->module->handle);
    return status;
  }
  const CUresult found =
      module_of_library(module, reinterpret_cast<CUlibrary>(known->module->handle));
  // NOLINTEND(performance-no-int-to-ptr)
  return found != CUDA_SUCCESS ? found : keep_known(scope, [&](Session& session) {
    session.modules().module_of_library(handle_of(*module), known->module->handle);
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
  static const OriginalOf<&cuKernelGetParamInfo> original;
  const HookScope scope;
  if (is_hidden_parameter(scope, handle_of(kernel), index)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return original(kernel, index, offset, bytes);
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  static const OriginalOf<&cuFuncGetParamInfo> original;
  const HookScope scope;
  if (is_hidden_parameter(scope, handle_of(function), index)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return original(function, index, offset, bytes);
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  static const OriginalOf<&cuKernelGetAttribute> original;
  const HookScope scope;
  const CUresult status = original(value, attribute, kernel, device);
  if (status == CUDA_SUCCESS) {
    hide_descriptor_word(scope, handle_of(kernel), attribute, value);
  }
  return status;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  static const OriginalOf<&cuFuncGetAttribute> original;
  const HookScope scope;
  const CUresult status = original(value, attribute, function);
  if (status == CUDA_SUCCESS) {
    hide_descriptor_word(scope, handle_of(function), attribute, value);
  }
  return status;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  const HookScope scope;
  return set_attribute(scope, handle_of(kernel),
                       KernelAttributes{.kernel = kernel, .device = device}, attribute, value);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  const HookScope scope;
  return set_attribute(scope, handle_of(function), FunctionAttributes{function}, attribute, value);
}

}  // namespace barracuda::preload
