// Where the exported names of libcudart and libcuda lead.
#include <dlfcn.h>
#include <string>

#include "emulator/driver_face.h"
#include "emulator/runtime_face.h"
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

void* nvidia_runtime_function(const char* name, const void* own_address) {
  constexpr const char* kLibrary = "libcudart.so.13";
  void* found = dlvsym(RTLD_NEXT, name, kLibrary);
  if (found == nullptr) {
    // Not in the program's own search order: loaded by a plug-in, say.
    if (void* const library = dlopen(kLibrary, RTLD_LAZY | RTLD_NOLOAD)) {
      found = real_dlsym(library, name);
    }
  }
  return found == own_address ? nullptr : found;
}

void* resolve_runtime(const char* name, const void* own_address) {
  const std::string_view text = name;
  // A launcher may register the kernels that it was linked with and leave them to its children.
  if (!text.starts_with("__cuda")) {
    note_cuda_use();
  }
  const bool emulated = device_choice() == DeviceChoice::kEmulated;
  if (emulated) {
    configure_emulated_device();
  } else if (void* const found = nvidia_runtime_function(name, own_address)) {
    return found;
  }
  // Without any runtime, ours still knows its own strings and registers nothing harmful.
  const bool needs_no_device = text.starts_with("__cuda") || text.starts_with("cudaGetError");
  void* const found =
      emulated || needs_no_device ? emulator::runtime::find_function(name) : nullptr;
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
  return preload::export_face(index) == preload::ExportFace::kRuntime
             ? preload::resolve_runtime(name.c_str(), preload::export_address(index))
             : preload::resolve_driver(name.c_str());
}
