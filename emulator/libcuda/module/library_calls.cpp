#include "base/early_return.h"
#include "base/file.h"
#include "emulator/libcuda/module/function_attributes.h"
#include "emulator/libcuda/module/module.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

CUresult load(CUlibrary* result, const void* image, const JitOptions& options) {
  RETURN_IF_FAILED(require_initialized());
  RETURN_IF(result == nullptr || image == nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto module = module_of_image(image).and_then(
      [](ptx::Module ptx) { return Module::load(std::move(ptx), nullptr); });
  if (!module) {
    remember(module.error());
    write_error_log(options, module.error().reason);
    return module.error().status;
  }
  publish(*module);
  auto library = std::make_shared<Library>(Library{.module = *module});
  *result = libraries().insert(std::move(library));
  (*module)->library = *result;
  return CUDA_SUCCESS;
}

CUresult find_variable(CUlibrary handle, const char* name, GlobalVariable& variable) {
  const std::shared_ptr<Library> library = libraries().find(handle);
  RETURN_IF(library == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(name == nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::optional<GlobalVariable> found = library->module->variable(name);
  RETURN_IF(!found, CUDA_ERROR_NOT_FOUND);
  variable = *found;
  return CUDA_SUCCESS;
}

CUresult answer(const GlobalVariable& variable, CUdeviceptr* address, std::size_t* bytes) {
  RETURN_IF(address == nullptr && bytes == nullptr, CUDA_ERROR_INVALID_VALUE);
  if (address != nullptr) {
    *address = variable.address;
  }
  if (bytes != nullptr) {
    *bytes = variable.bytes;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* result, const void* image, CUjit_option* options,
                           void** values, unsigned option_count,
                           CUlibraryOption* /*library_options*/, void** /*library_values*/,
                           unsigned /*library_option_count*/) {
  return load(result, image, {.count = option_count, .names = options, .values = values});
}

CUresult cuLibraryLoadFromFile(CUlibrary* result, const char* file_name, CUjit_option* options,
                               void** values, unsigned option_count,
                               CUlibraryOption* /*library_options*/, void** /*library_values*/,
                               unsigned /*library_option_count*/) {
  RETURN_IF(file_name == nullptr, CUDA_ERROR_INVALID_VALUE);
  const Expected<std::string> content = read_file(file_name);
  RETURN_IF(!content, CUDA_ERROR_FILE_NOT_FOUND);
  return load(result, content->c_str(),
              {.count = option_count, .names = options, .values = values});
}

CUresult cuLibraryUnload(CUlibrary handle) {
  const std::shared_ptr<Library> library = libraries().extract(handle);
  RETURN_IF(library == nullptr, CUDA_ERROR_INVALID_HANDLE);
  finish_all_streams();
  withdraw(*library->module);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* result, CUlibrary handle, const char* name) {
  const std::shared_ptr<Library> library = libraries().find(handle);
  RETURN_IF(library == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(result == nullptr || name == nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto& functions = library->module->functions();
  const auto found = functions.find(std::string_view(name));
  RETURN_IF(found == functions.end(), CUDA_ERROR_NOT_FOUND);
  *result = kernel_handle(*found->second);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  const std::shared_ptr<Library> library = libraries().find(handle);
  RETURN_IF(library == nullptr, CUDA_ERROR_INVALID_HANDLE);
  return driver::cuModuleGetFunctionCount(count, library->module->handle());
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary handle) {
  const std::shared_ptr<Library> library = libraries().find(handle);
  RETURN_IF(library == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(kernels == nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const auto& [name, function] : library->module->functions()) {
    if (count-- == 0) {
      break;
    }
    *kernels++ = kernel_handle(*function);
  }
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule* result, CUlibrary handle) {
  const std::shared_ptr<Library> library = libraries().find(handle);
  RETURN_IF(library == nullptr, CUDA_ERROR_INVALID_HANDLE);
  return store_result(result, library->module->handle());
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary handle,
                            const char* name) {
  GlobalVariable variable;
  RETURN_IF_FAILED(require_context());
  const CUresult status = find_variable(handle, name, variable);
  return status == CUDA_SUCCESS ? answer(variable, address, bytes) : status;
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary handle,
                             const char* name) {
  GlobalVariable variable;
  RETURN_IF_FAILED(find_variable(handle, name, variable));
  RETURN_IF(!libraries().find(handle)->module->is_managed(name), CUDA_ERROR_NOT_FOUND);
  return answer(variable, address, bytes);
}

CUresult cuLibraryGetUnifiedFunction(void** /*address*/, CUlibrary handle, const char* /*symbol*/) {
  return libraries().find(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_FOUND;
}

CUresult cuKernelGetFunction(CUfunction* result, CUkernel kernel) {
  RETURN_IF(find_function_handle(function_handle(kernel)) == nullptr, CUDA_ERROR_INVALID_HANDLE);
  return store_result(result, function_handle(kernel));
}

CUresult cuKernelGetLibrary(CUlibrary* result, CUkernel kernel) {
  const std::shared_ptr<Function> function = find_function_handle(function_handle(kernel));
  RETURN_IF(function == nullptr, CUDA_ERROR_INVALID_HANDLE);
  return store_result(result, function->module->library);
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  return function_attribute(value, attribute, function_handle(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  return set_function_attribute(function_handle(kernel), attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE
                     : driver::cuFuncSetCacheConfig(function_handle(kernel), config);
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return function_name(name, function_handle(kernel));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* size) {
  return function_parameter(function_handle(kernel), index, offset, size);
}

}  // namespace barracuda::emulator::driver
