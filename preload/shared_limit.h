// The most dynamic shared memory that a kernel is set up for.
#pragma once

#include <cstdint>

#include "session/device_driver.h"

namespace barracuda::preload {

// In bytes; 0: not known. What is launched is a CUfunction, or a CUkernel in its place.
std::uint32_t most_dynamic_shared(session::Handle function);

}  // namespace barracuda::preload
