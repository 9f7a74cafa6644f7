// Whether NVIDIA's driver is present: a device node exists and libcuda.so.1 can be loaded, and what
// is loaded is not our own library under that name. One answer for `barracuda run` and the
// preloaded library. Never calls into the driver (cuInit at registration would break fork).
#pragma once

namespace barracuda {

// /dev/nvidiactl, /dev/nvidia0 … or /dev/dxg (Windows' subsystem for Linux).
bool gpu_device_node_exists() noexcept;

// dlopen, or what reaches the real one: a library that hooks dlopen passes its own way around the
// hook.
using LibraryOpener = void* (*)(const char* name, int flags);

// A library that it loads stays loaded: the program is about to need it.
bool driver_is_present(LibraryOpener open = nullptr) noexcept;

}  // namespace barracuda
