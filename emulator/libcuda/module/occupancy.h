// How many blocks of a kernel fit on a multiprocessor of the emulated device, by its attributes.
#pragma once

#include <cstdint>

#include "emulator/libcuda/module/module.h"

namespace barracuda::emulator::driver {

int blocks_per_multiprocessor(const Function& function, std::uint64_t threads,
                              std::size_t dynamic_shared);

}  // namespace barracuda::emulator::driver
