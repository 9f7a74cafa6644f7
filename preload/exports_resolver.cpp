// Where the exported names of libcudart and libcuda lead.
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/libcuda.h"
#include "emulator/libcudart.h"
#include "fatbin/runtime_libraries.h"
#include "preload/driver_library.h"
#include "preload/exports.h"
#include "preload/hooks.h"
#include "preload/process.h"

namespace barracuda::preload {
namespace {

// CUDA's numbers, for a name that neither NVIDIA's library nor ours has.
constexpr int kErrorNotSupported = 801;
constexpr int kErrorInsufficientDriver = 35;

int no_driver_function() {
  return kErrorNotSupported;
}

int no_runtime_function() {
  return kErrorInsufficientDriver;
}

// The libcudarts that are loaded. Wheels give the file a name of its own:
// libcudart-d0da41ae.so.11.0.
std::vector<std::string> loaded_runtimes() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*bytes*/, void* data) {
        const std::string_view path = info->dlpi_name;
        if (path.substr(path.rfind('/') + 1).starts_with("libcudart")) {
          static_cast<std::vector<std::string>*>(data)->emplace_back(path);
        }
        return 0;
      },
      &paths);
  return paths;
}

// As fatbin::kRuntimeLibraries has it, which is also the name of the version node.
const char* runtime_file(ExportLibrary library) {
  constexpr const auto& kFiles = fatbin::kRuntimeLibraries;
  static_assert(kFiles.size() == 3 && std::string_view(kFiles[0]).ends_with(".so.13") &&
                    std::string_view(kFiles[1]).ends_with(".so.12") &&
                    std::string_view(kFiles[2]).ends_with(".so.11.0"),
                "an export for each");
  return library == ExportLibrary::kCudart13   ? kFiles[0]
         : library == ExportLibrary::kCudart12 ? kFiles[1]
                                               : kFiles[2];
}

// The function of that version: signatures and structures of others differ.
void* nvidia_runtime_function(const char* version, const char* name, const void* own_address) {
  void* found = dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) {
    // Not in the program's own search order: loaded by a plug-in, say.
    for (const std::string& path : loaded_runtimes()) {
      void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      found = library == nullptr ? nullptr : dlvsym(library, name, version);
      if (found != nullptr) {
        break;
      }
    }
  }
  return found == own_address ? nullptr : found;
}

void* resolve_runtime(ExportLibrary library, const char* name, const void* own_address) {
  const std::string_view text = name;
  // A launcher may register the kernels that it was linked with and leave them to its children.
  if (!text.starts_with("__cuda")) {
    note_cuda_use();
  }
  const bool emulated = device_choice() == DeviceChoice::kEmulated;
  if (emulated) {
    configure_emulated_device();
  } else if (void* const found =
                 nvidia_runtime_function(runtime_file(library), name, own_address)) {
    return found;
  }
  // Without any runtime, ours still knows its own strings and registers nothing harmful.
  const bool needs_no_device = text.starts_with("__cuda") || text.starts_with("cudaGetError");
  void* const found = emulated || needs_no_device
                          ? emulator::runtime::find_function(name, emulated_runtime(library))
                          : nullptr;
  return found != nullptr ? found : reinterpret_cast<void*>(&no_runtime_function);
}

void* resolve_driver(const char* name) {
  void* const original = unhooked_driver_function(name);
  if (original == nullptr) {
    return reinterpret_cast<void*>(&no_driver_function);
  }
  void* const hook = find_hook(name);
  return hook != nullptr ? hook : original;
}

}  // namespace
}  // namespace barracuda::preload

void* barracuda_resolve_export(unsigned index) {
  namespace preload = barracuda::preload;
  const std::string name(preload::export_name(index));
  const preload::ExportLibrary library = preload::export_library(index);
  return library == preload::ExportLibrary::kCuda
             ? preload::resolve_driver(name.c_str())
             : preload::resolve_runtime(library, name.c_str(), preload::export_address(index));
}
