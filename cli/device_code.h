// What device code an executable or a library carries, and what the tool can make of it: which of
// its units have PTX, for which architectures, and what their kernels are like.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fatbin/host_image.h"
#include "ptx/module.h"

namespace barracuda::cli {

struct CarriedKernel {
  std::string name;  // demangled
  bool has_lines = false;
  bool is_instrumented = true;
  std::string reason;  // why not
  ptx::LaunchBounds bounds;
  std::uint64_t shared_bytes = 0;  // static ones
};

struct DeviceCode {
  std::size_t units = 0;                      // translation units with device code
  std::size_t without_ptx = 0;                // of these
  std::size_t without_fitting_ptx = 0;        // have PTX, but none that the device can run
  std::set<std::string> ptx_targets;          // "compute_90"
  std::set<std::string> code_targets;         // "sm_90", of machine code
  std::set<std::string> sources_without_ptx;  // as far as the units name them
  std::set<std::string> toolkits;             // that have compiled the PTX: "13.0"
  bool has_debug_code = false;                // nvcc -G
  bool is_read = false;                       // the kernels are known, as follows
  std::vector<CarriedKernel> kernels;         // of all PTX, by name
  std::set<std::string> not_covered;          // instructions that the tool does not know
  std::vector<std::string> unreadable;        // PTX that it cannot read, and why

  [[nodiscard]] bool has_ptx() const { return without_ptx != units; }
};

// The device that kernels would run on: 0 for the emulated one, 90 for sm_90.
using DeviceArch = std::uint32_t;

// `image`: what fatbin::read_host_image has read of the file. Kernels are read where that takes a
// moment, and left alone where the file has more PTX than that.
DeviceCode read_device_code(const std::string& file, const fatbin::HostImage& image,
                            DeviceArch arch);

}  // namespace barracuda::cli
