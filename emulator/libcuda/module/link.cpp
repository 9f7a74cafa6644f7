#include "base/early_return.h"
#include "base/file.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/module/image.h"
#include "emulator/libcuda/module/module.h"

namespace barracuda::emulator::driver {
namespace {

// A link in progress; what it completes to lives as long as it.
struct LinkJob {
  std::vector<std::string> units;
  std::string linked;
  std::vector<CUjit_option> option_names;
  void** caller_values = nullptr;

  void report(std::string_view message) {
    write_error_log({.count = static_cast<unsigned>(option_names.size()),
                     .names = option_names.data(),
                     .values = caller_values},
                    message);
  }
};

HandleTable<LinkJob, CUlinkState>& jobs() {
  static auto* const instance = new HandleTable<LinkJob, CUlinkState>;
  return *instance;
}

CUresult refuse(LinkJob& job, const ImageRefusal& refusal) {
  remember(refusal);
  job.report(refusal.reason);
  return refusal.status;
}

// Its functions are linked where they are needed (ptx/device_runtime.h).
bool is_device_runtime(CUjitInputType type, const char* name) {
  return type == CU_JIT_INPUT_LIBRARY && name != nullptr &&
         std::string_view(name).find("cudadevrt") != std::string_view::npos;
}

CUresult add(CUlinkState handle, CUjitInputType type, const std::string& image, const char* name) {
  const std::shared_ptr<LinkJob> job = jobs().find(handle);
  RETURN_IF(job == nullptr, CUDA_ERROR_INVALID_HANDLE);
  if (is_device_runtime(type, name)) {
    return CUDA_SUCCESS;
  }
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
    return refuse(*job, {.status = CUDA_ERROR_NO_BINARY_FOR_GPU,
                         .reason = "only PTX and fat binaries with PTX can be linked"});
  }
  auto units = ptx_units(image.c_str());
  if (!units) {
    return refuse(*job, units.error());
  }
  for (std::string& unit : *units) {
    job->units.push_back(std::move(unit));
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLinkCreate_v2(unsigned option_count, CUjit_option* options, void** values,
                         CUlinkState* result) {
  RETURN_IF(result == nullptr || (option_count != 0 && (options == nullptr || values == nullptr)),
            CUDA_ERROR_INVALID_VALUE);
  auto job = std::make_shared<LinkJob>();
  job->option_names.assign(options, options + option_count);
  job->caller_values = values;
  *result = jobs().insert(std::move(job));
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void* data, std::size_t size,
                          const char* name, unsigned /*option_count*/, CUjit_option* /*options*/,
                          void** /*values*/) {
  RETURN_IF(data == nullptr, CUDA_ERROR_INVALID_VALUE);
  return add(handle, type, std::string(static_cast<const char*>(data), size), name);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char* path,
                          unsigned /*option_count*/, CUjit_option* /*options*/, void** /*values*/) {
  RETURN_IF(path == nullptr, CUDA_ERROR_INVALID_VALUE);
  const Expected<std::string> content = read_file(path);
  return content ? add(handle, type, *content, path) : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult cuLinkComplete(CUlinkState handle, void** image, std::size_t* bytes) {
  const std::shared_ptr<LinkJob> job = jobs().find(handle);
  RETURN_IF(job == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(image == nullptr || job->units.empty(), CUDA_ERROR_INVALID_VALUE);
  auto linked = link_units(std::move(job->units));
  job->units.clear();
  if (!linked) {
    return refuse(*job, linked.error());
  }
  job->linked = std::move(*linked);
  *image = job->linked.data();
  if (bytes != nullptr) {
    *bytes = job->linked.size() + 1;
  }
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState handle) {
  return jobs().extract(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
