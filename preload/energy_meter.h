// How much energy a device has used, by NVIDIA's management library (NVML), where that can be
// loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace barracuda::preload {

// Since its driver was loaded; of the device on this PCI bus. None: NVML is not there, or does not
// tell it of this device (a part of one by MIG, an old GPU).
std::optional<std::uint64_t> consumed_millijoules(const std::string& pci_bus);

}  // namespace barracuda::preload
