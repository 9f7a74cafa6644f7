#include "base/driver_presence.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>

namespace barracuda {
namespace {

// `barracuda run` puts a link libcuda.so.1 → libbarracuda.so on the library path for the emulated
// device; a tool started from within such a run must not take it for a driver.
bool is_our_library(void* handle) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr ||
      map->l_name == nullptr) {
    return false;
  }
  char resolved[PATH_MAX];
  if (realpath(map->l_name, resolved) == nullptr) {
    return false;
  }
  const char* const slash = std::strrchr(resolved, '/');
  return std::strncmp(slash == nullptr ? resolved : slash + 1, "libbarracuda", 12) == 0;
}

}  // namespace

bool gpu_device_node_exists() noexcept {
  constexpr const char* kNodes[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"};
  for (const char* const node : kNodes) {
    if (access(node, F_OK) == 0) {
      return true;
    }
  }
  return false;
}

bool driver_is_present(LibraryOpener open) noexcept {
  if (!gpu_device_node_exists()) {
    return false;
  }
  void* const library = (open != nullptr ? open : dlopen)("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library != nullptr && !is_our_library(library);
}

}  // namespace barracuda
