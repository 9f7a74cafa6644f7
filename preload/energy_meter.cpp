#include "preload/energy_meter.h"

#include <dlfcn.h>

#include "preload/driver_library.h"

namespace barracuda::preload {
namespace {

// Its functions answer with a number, 0 for success. Declared here: its header is in no package
// that the build needs.
struct Nvml {
  using Device = void*;
  int (*init)() = nullptr;
  int (*find_device)(const char* bus, Device* device) = nullptr;
  int (*energy)(Device device, unsigned long long* millijoules) = nullptr;

  Nvml() {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      return;
    }
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlDeviceGetHandleByPciBusId_v2", find_device);
    find(library, "nvmlDeviceGetTotalEnergyConsumption", energy);
    is_usable = init != nullptr && find_device != nullptr && energy != nullptr && init() == 0;
  }

  bool is_usable = false;

 private:
  template <typename Function>
  static void find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(real_dlsym(library, name));
  }
};

}  // namespace

std::optional<std::uint64_t> consumed_millijoules(const std::string& pci_bus) {
  static const Nvml nvml;
  Nvml::Device device = nullptr;
  unsigned long long millijoules = 0;
  if (!nvml.is_usable || nvml.find_device(pci_bus.c_str(), &device) != 0 ||
      nvml.energy(device, &millijoules) != 0) {
    return std::nullopt;
  }
  return millijoules;
}

}  // namespace barracuda::preload
