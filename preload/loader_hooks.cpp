// The ways in which programs and runtimes find functions of the driver: dlsym, cuGetProcAddress,
// and tables that only NVIDIA's libraries know.
#include <cstring>
#include <dlfcn.h>
#include <string>

#include "preload/compiler_hooks.h"
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

// cuGetProcAddress's flag for the functions of the per-thread default stream.
constexpr cuuint64_t kPerThreadStream = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

bool is_in_libcuda(void* function) {
  Dl_info info;
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "libcuda.so") != nullptr;
}

// A driver may hand out addresses that it does not export under any name. Where a symbol has one
// version only, it is clear which hook that is; elsewhere a guess could have another signature.
void* find_hook_of_symbol(const std::string& symbol, cuuint64_t flags) {
  if (unhooked_driver_function((symbol + "_v2").c_str()) != nullptr) {
    return nullptr;
  }
  const bool per_thread = (flags & kPerThreadStream) != 0;
  void* const hook = per_thread ? find_hook(symbol + "_ptsz") : nullptr;
  return hook != nullptr ? hook : find_hook(symbol);
}

void replace_result(const char* symbol, void** result, cuuint64_t flags) {
  if (symbol == nullptr || result == nullptr || *result == nullptr) {
    return;
  }
  void* const replaced = replace_driver_function(*result);
  if (replaced == *result && device_choice() == DeviceChoice::kGpu) {
    if (void* const hook = find_hook_of_symbol(symbol, flags)) {
      *result = hook;
    }
    return;
  }
  *result = replaced;
}

// NVIDIA's runtime asks for the driver's private tables, and where it is part of a library of the
// program, nothing of it can be replaced. NVIDIA's compilers (libnvrtc, libnvJitLink) ask as well,
// and do without. The executable itself is looked at before it starts.
void note_private_runtime(const HookScope& scope, const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) {
    return;
  }
  const std::string path = info.dli_fname;
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libnv")) {
    return;
  }
  scope.run(Loss::kCoverage, [&name](session::Session& session) {
    session.problems().add(name +
                           " contains its own copy of the CUDA runtime, which needs NVIDIA's "
                           "driver: what it asks of the emulated device fails");
  });
}

}  // namespace

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  static const OriginalOf<&cuGetExportTable> original;
  const HookScope scope;
  const CUresult status = original(table, id);
  if (status != CUDA_SUCCESS && device_choice() == DeviceChoice::kEmulated) {
    note_private_runtime(scope, HookCall::current()->caller());
  }
  return status;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* result) {
  static const OriginalOf<&cuGetProcAddress_v2> original;
  const CUresult status = original(symbol, function, version, flags, result);
  if (status == CUDA_SUCCESS) {
    replace_result(symbol, function, flags);
  }
  return status;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  static const OriginalOf<&cuGetProcAddress> original;
  const CUresult status = original(symbol, function, version, flags);
  if (status == CUDA_SUCCESS) {
    replace_result(symbol, function, flags);
  }
  return status;
}

}  // namespace barracuda::preload

namespace barracuda::preload {
namespace {

// "cu…", "nv…" and "__nv…": what has a hook. A sanitizer's runtime looks for its functions before
// the functions that it stands before, __tls_get_addr among them, can be called: for a name of
// another kind nothing of libc's is called and no thread-local variable read.
bool may_have_a_hook(const char* name) {
  const char* const word = name[0] == '_' && name[1] == '_' ? name + 2 : name;
  return (word[0] == 'n' && word[1] == 'v') || (name[0] == 'c' && name[1] == 'u');
}

// Our own exports of these names are to be found only where there is a library behind them: who
// looks for a library by its functions must not think that it is loaded.
void* replace_compiler_function(void* handle, const char** name) {
  void* original = real_dlsym(handle, *name);
  Dl_info found;
  Dl_info own;
  const bool is_ours = original != nullptr && dladdr(original, &found) != 0 &&
                       dladdr(reinterpret_cast<void*>(&replace_compiler_function), &own) != 0 &&
                       found.dli_fbase == own.dli_fbase;
  if (is_ours) {
    original = next_compiler_function(*name);
    if (original == nullptr) {
      *name = "a function of NVRTC or nvJitLink, neither of which is loaded";
      return nullptr;
    }
  }
  return find_compiler_hook(*name, original);
}

}  // namespace
}  // namespace barracuda::preload

// Called by dlsym.S: the answer in place of the real dlsym's, or null to let that one answer, for
// the name that is left in `*symbol`. Only functions of NVIDIA's driver and compilers are replaced;
// on the emulated device our exports of the driver are found as they are.
extern "C" [[gnu::visibility("hidden")]] void* barracuda_replace_symbol(void* handle,
                                                                        const char** symbol) {
  namespace preload = barracuda::preload;
  const char* const name = *symbol;
  if (name == nullptr || handle == RTLD_NEXT || !preload::may_have_a_hook(name) ||
      preload::is_choosing()) {
    return nullptr;
  }
  if (preload::is_compiler_name(name)) {
    return preload::replace_compiler_function(handle, symbol);
  }
  void* const hook = preload::find_hook(name);
  if (hook == nullptr || preload::device_choice() != preload::DeviceChoice::kGpu) {
    return nullptr;
  }
  void* const original = preload::real_dlsym(handle, name);
  return original != nullptr && preload::is_in_libcuda(original) ? hook : nullptr;
}
