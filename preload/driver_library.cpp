#include "preload/driver_library.h"

#include <atomic>
#include <dlfcn.h>

#include "base/driver_presence.h"
#include "emulator/libcuda.h"
#include "preload/process.h"

// Written once with the same value by whoever comes first; dlsym.S reads it.
void* barracuda_real_dlsym = nullptr;

void barracuda_find_real_dlsym() {
  // glibc moved it into libc in 2.34 and keeps the old version for old programs.
  void* found = nullptr;
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.2.5"}) {
    if (found == nullptr) {
      found = dlvsym(RTLD_NEXT, "dlsym", version);
    }
  }
  std::atomic_ref(barracuda_real_dlsym).store(found, std::memory_order_release);
}

namespace barracuda::preload {
namespace {

thread_local bool g_choosing = false;

DeviceChoice choose() {
  const std::string& wanted = process_options().device;
  if (wanted == "cpu") {
    return DeviceChoice::kEmulated;
  }
  g_choosing = true;
  const bool present = driver_is_present();
  g_choosing = false;
  if (!present && wanted == "gpu") {
    block_process(
        "device=gpu was asked for, but no NVIDIA driver was found (libcuda.so.1 and a device "
        "node); device=cpu runs kernels on the emulated device.");
    return DeviceChoice::kGpu;
  }
  return present ? DeviceChoice::kGpu : DeviceChoice::kEmulated;
}

}  // namespace

DeviceChoice device_choice() {
  static const DeviceChoice choice = choose();
  return choice;
}

bool is_choosing() {
  return g_choosing;
}

void* real_dlsym(void* handle, const char* name) {
  if (std::atomic_ref(barracuda_real_dlsym).load(std::memory_order_acquire) == nullptr) {
    barracuda_find_real_dlsym();
  }
  using Dlsym = void*(void*, const char*);
  return reinterpret_cast<Dlsym*>(barracuda_real_dlsym)(handle, name);
}

void* unhooked_driver_function(const char* exported_name) {
  if (device_choice() == DeviceChoice::kEmulated) {
    configure_emulated_device();
    return emulator::driver::find_function(exported_name);
  }
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : real_dlsym(library, exported_name);
}

}  // namespace barracuda::preload
