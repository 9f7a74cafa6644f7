// What CUDA an executable or shared object carries: its fat binaries, and where its runtime comes
// from. Looks at ELF sections only, runs nothing.
#pragma once

#include "fatbin/fatbin.h"

namespace barracuda::fatbin {

struct HostImage {
  std::vector<std::string> needed;    // DT_NEEDED
  bool has_device_code = false;       // a fat binary of nvcc's with something in it
  bool imports_runtime = false;       // registers its fat binaries with a runtime outside itself
  std::vector<Container> containers;  // those of linked and of plain code, and those before linking

  // nvcc's default: the runtime is part of the image, and nothing of it can be interposed.
  [[nodiscard]] bool has_static_runtime() const;
};

// An error where the file is no ELF file of this machine's word size and byte order, or is damaged.
Expected<HostImage> read_host_image(const std::string& path, Payloads payloads = Payloads::kNone);
Expected<HostImage> read_host_image(std::span<const std::byte> file, Payloads payloads);

}  // namespace barracuda::fatbin
