// What CUDA an executable or shared object carries: its fat binaries, and where its runtime comes
// from. Looks at ELF sections only, runs nothing.
#pragma once

#include "fatbin/fatbin.h"

namespace barracuda::fatbin {

// A section's place in memory, before the file's base address is added.
struct Place {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;

  // Of a section that is not there nothing is a part.
  [[nodiscard]] bool contains(std::uint64_t other) const {
    return other >= address && other - address < bytes;
  }
};

struct HostImage {
  std::vector<std::string> needed;    // DT_NEEDED
  bool has_device_code = false;       // a fat binary of nvcc's with something in it
  bool imports_runtime = false;       // registers its fat binaries with a runtime outside itself
  std::vector<Container> containers;  // those of linked and of plain code, and those before linking
  std::vector<bool> is_before_linking;  // of each of them: a translation unit that -rdc has linked
  Place wrappers;  // what the program registers, and a wrapper of each unit that -rdc has linked
  Place loaded;    // what the headers of those that it registers lie in

  // nvcc's default: the runtime is part of the image, and nothing of it can be interposed.
  [[nodiscard]] bool has_static_runtime() const;
  // "libcudart.so.10.2": a shared runtime that the emulated device does not stand in for; or empty.
  [[nodiscard]] std::string other_runtime() const;
  // It imports the runtime, or needs a library of it.
  [[nodiscard]] bool uses_runtime_library() const;
};

// The file at `path`, of which `image` was read, has the CUDA runtime in it. Without device code of
// its own this is told by the runtime's constants, and all of the file's are searched.
bool contains_static_runtime(const std::string& path, const HostImage& image);

// An error where the file is no ELF file of this machine's word size and byte order, or is damaged.
Expected<HostImage> read_host_image(const std::string& path, Payloads payloads = Payloads::kNone);
Expected<HostImage> read_host_image(std::span<const std::byte> file, Payloads payloads);

}  // namespace barracuda::fatbin
