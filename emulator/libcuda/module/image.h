// An image that a program hands to the driver, as PTX: a fat binary (its wrapper or header),
// PTX itself, or machine code, which cannot be executed.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "emulator/libcuda/calls.h"
#include "ptx/module.h"

namespace barracuda::emulator::driver {

struct ImageRefusal {
  CUresult status = CUDA_ERROR_INVALID_IMAGE;
  std::string reason;
};

// The PTX of every translation unit, not linked yet.
tl::expected<std::vector<std::string>, ImageRefusal> ptx_units(const void* image);
// One PTX text for the units of a program, as nvlink would.
tl::expected<std::string, ImageRefusal> link_units(std::vector<std::string> units);
// The image's units, parsed and linked.
tl::expected<ptx::Module, ImageRefusal> module_of_image(const void* image);

void remember(const ImageRefusal& refusal);

}  // namespace barracuda::emulator::driver
