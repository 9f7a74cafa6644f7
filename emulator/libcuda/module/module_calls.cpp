#include "base/early_return.h"
#include "base/file.h"
#include "emulator/libcuda/module/module.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

CUresult refuse(const ImageRefusal& refusal, const JitOptions& options) {
  remember(refusal);
  write_error_log(options, refusal.reason);
  return refusal.status;
}

CUresult load(CUmodule* result, const void* image, const JitOptions& options) {
  RETURN_IF_FAILED(require_context());
  RETURN_IF(result == nullptr || image == nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto module = module_of_image(image).and_then(
      [](ptx::Module ptx) { return Module::load(std::move(ptx), current_context()); });
  if (!module) {
    return refuse(module.error(), options);
  }
  *result = publish(*module);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* result, const void* image) {
  return load(result, image, {});
}

CUresult cuModuleLoadDataEx(CUmodule* result, const void* image, unsigned option_count,
                            CUjit_option* options, void** values) {
  return load(result, image, {.count = option_count, .names = options, .values = values});
}

CUresult cuModuleLoadFatBinary(CUmodule* result, const void* image) {
  return load(result, image, {});
}

CUresult cuModuleLoad(CUmodule* result, const char* file_name) {
  RETURN_IF(file_name == nullptr, CUDA_ERROR_INVALID_VALUE);
  const Expected<std::string> content = read_file(file_name);
  return content ? load(result, content->c_str(), {}) : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult cuModuleUnload(CUmodule handle) {
  const std::shared_ptr<Module> module = find_module(handle);
  RETURN_IF(module == nullptr || module->owner() == nullptr, CUDA_ERROR_INVALID_HANDLE);
  finish_all_streams();
  withdraw(*module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* result, CUmodule handle, const char* name) {
  const std::shared_ptr<Module> module = find_module(handle);
  RETURN_IF(module == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(result == nullptr || name == nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto found = module->functions().find(std::string_view(name));
  RETURN_IF(found == module->functions().end(), CUDA_ERROR_NOT_FOUND);
  *result = function_handle(*found->second);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule handle,
                              const char* name) {
  const std::shared_ptr<Module> module = find_module(handle);
  RETURN_IF(module == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(name == nullptr || (address == nullptr && bytes == nullptr), CUDA_ERROR_INVALID_VALUE);
  const std::optional<GlobalVariable> variable = module->variable(name);
  RETURN_IF(!variable, CUDA_ERROR_NOT_FOUND);
  if (address != nullptr) {
    *address = variable->address;
  }
  if (bytes != nullptr) {
    *bytes = variable->bytes;
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  const std::shared_ptr<Module> module = find_module(handle);
  RETURN_IF(module == nullptr || count == nullptr, CUDA_ERROR_INVALID_VALUE);
  *count = static_cast<unsigned>(module->functions().size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  const std::shared_ptr<Module> module = find_module(handle);
  RETURN_IF(module == nullptr || functions == nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const auto& [name, function] : module->functions()) {
    if (count-- == 0) {
      break;
    }
    *functions++ = function_handle(*function);
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return store_result(mode, CU_MODULE_LAZY_LOADING);
}

}  // namespace barracuda::emulator::driver
