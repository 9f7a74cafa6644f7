// Kernel handles: which function is which kernel, and what a program may see of it: the hidden
// parameter and the descriptor word in shared memory are not the program's.
#include <memory>

#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::KernelBinding;
using session::Session;

// The static shared word that an instrumented kernel keeps its descriptor in.
constexpr int kDescriptorWordBytes = 8;

template <typename Name>
void note_enumerated(const HookScope& scope, session::Handle owner, session::Handle function,
                     const Name& name_of) {
  const char* name = nullptr;
  if (name_of(&name) == CUDA_SUCCESS && name != nullptr) {
    scope.run([&](Session& session) { session.modules().kernel_found(owner, name, function); });
  }
}

std::shared_ptr<const KernelBinding> find_instrumented(const HookScope& scope,
                                                       session::Handle function) {
  std::shared_ptr<const KernelBinding> kernel;
  scope.run([&](Session& session) { kernel = session.modules().find(function); });
  return kernel != nullptr && kernel->instrumented() ? kernel : nullptr;
}

bool is_hidden_parameter(const HookScope& scope, session::Handle function, std::size_t index) {
  const auto kernel = find_instrumented(scope, function);
  return kernel != nullptr && index >= kernel->kernel->parameters.size();
}

void hide_descriptor_word(const HookScope& scope, session::Handle function,
                          CUfunction_attribute attribute, int* value) {
  if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES && value != nullptr &&
      *value >= kDescriptorWordBytes && find_instrumented(scope, function) != nullptr) {
    *value -= kDescriptorWordBytes;
  }
}

}  // namespace

CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) {
  static const Original<decltype(module_get_function)> original{"cuModuleGetFunction"};
  const HookScope scope;
  const CUresult status = original(function, module, name);
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      session.modules().kernel_found(handle_of(module), name, handle_of(*function));
    });
  }
  return status;
}

CUresult module_enumerate_functions(CUfunction* functions, unsigned count, CUmodule module) {
  static const Original<decltype(module_enumerate_functions)> original{
      "cuModuleEnumerateFunctions"};
  static const Original<decltype(::cuFuncGetName)> get_name{"cuFuncGetName"};
  static const Original<decltype(::cuModuleGetFunctionCount)> get_count{"cuModuleGetFunctionCount"};
  const HookScope scope;
  const CUresult status = original(functions, count, module);
  unsigned present = 0;
  if (status == CUDA_SUCCESS && get_count(&present, module) == CUDA_SUCCESS) {
    for (unsigned i = 0; i < count && i < present; ++i) {
      note_enumerated(scope, handle_of(module), handle_of(functions[i]),
                      [&](const char** name) { return get_name(name, functions[i]); });
    }
  }
  return status;
}

CUresult library_get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  static const Original<decltype(library_get_kernel)> original{"cuLibraryGetKernel"};
  const HookScope scope;
  const CUresult status = original(kernel, library, name);
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      session.modules().kernel_found(handle_of(library), name, handle_of(*kernel));
    });
  }
  return status;
}

CUresult library_get_module(CUmodule* module, CUlibrary library) {
  static const Original<decltype(library_get_module)> original{"cuLibraryGetModule"};
  const HookScope scope;
  const CUresult status = original(module, library);
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      session.modules().module_of_library(handle_of(*module), handle_of(library));
    });
  }
  return status;
}

CUresult library_enumerate_kernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  static const Original<decltype(library_enumerate_kernels)> original{"cuLibraryEnumerateKernels"};
  static const Original<decltype(::cuKernelGetName)> get_name{"cuKernelGetName"};
  static const Original<decltype(::cuLibraryGetKernelCount)> get_count{"cuLibraryGetKernelCount"};
  const HookScope scope;
  const CUresult status = original(kernels, count, library);
  unsigned present = 0;
  if (status == CUDA_SUCCESS && get_count(&present, library) == CUDA_SUCCESS) {
    for (unsigned i = 0; i < count && i < present; ++i) {
      note_enumerated(scope, handle_of(library), handle_of(kernels[i]),
                      [&](const char** name) { return get_name(name, kernels[i]); });
    }
  }
  return status;
}

CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
  static const Original<decltype(kernel_get_function)> original{"cuKernelGetFunction"};
  const HookScope scope;
  const CUresult status = original(function, kernel);
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      session.modules().same_kernel(handle_of(*function), handle_of(kernel));
    });
  }
  return status;
}

CUresult kernel_get_parameter_info(CUkernel kernel, std::size_t index, std::size_t* offset,
                                   std::size_t* bytes) {
  static const Original<decltype(kernel_get_parameter_info)> original{"cuKernelGetParamInfo"};
  const HookScope scope;
  if (is_hidden_parameter(scope, handle_of(kernel), index)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return original(kernel, index, offset, bytes);
}

CUresult function_get_parameter_info(CUfunction function, std::size_t index, std::size_t* offset,
                                     std::size_t* bytes) {
  static const Original<decltype(function_get_parameter_info)> original{"cuFuncGetParamInfo"};
  const HookScope scope;
  if (is_hidden_parameter(scope, handle_of(function), index)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return original(function, index, offset, bytes);
}

CUresult kernel_get_attribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  static const Original<decltype(kernel_get_attribute)> original{"cuKernelGetAttribute"};
  const HookScope scope;
  const CUresult status = original(value, attribute, kernel, device);
  if (status == CUDA_SUCCESS) {
    hide_descriptor_word(scope, handle_of(kernel), attribute, value);
  }
  return status;
}

CUresult function_get_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  static const Original<decltype(function_get_attribute)> original{"cuFuncGetAttribute"};
  const HookScope scope;
  const CUresult status = original(value, attribute, function);
  if (status == CUDA_SUCCESS) {
    hide_descriptor_word(scope, handle_of(function), attribute, value);
  }
  return status;
}

}  // namespace barracuda::preload
