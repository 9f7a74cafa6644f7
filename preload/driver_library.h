// Which device this process gets, and the functions of the driver itself, hooks left aside. Usable
// before constructors have run. Never calls cuInit: a process may register its kernels, fork, and
// use CUDA in the child.
#pragma once

#include <cstdint>

namespace barracuda::preload {

enum class DeviceChoice : std::uint8_t {
  kGpu,       // NVIDIA's driver, runtime and device
  kEmulated,  // ours
};

// Decided at the first call, by the option `device` and by what the machine has.
DeviceChoice device_choice();
// The choice is being made by this thread: libcuda's own constructors run.
bool is_choosing();

// The dynamic linker's own dlsym. The caller it resolves RTLD_NEXT against is this library.
void* real_dlsym(void* handle, const char* name);

// The driver's function by its exported name, null if the driver has none of it.
void* unhooked_driver_function(const char* exported_name);

}  // namespace barracuda::preload

// Where dlsym.S jumps to.
// NOLINTNEXTLINE(readability-identifier-naming): a name for the linker
extern "C" void* barracuda_real_dlsym;
extern "C" void barracuda_find_real_dlsym();
