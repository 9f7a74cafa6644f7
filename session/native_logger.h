// The device logger (device_logger/logger.cu) as host code, for the emulated device: the same
// records in the same queues, without executing the hooks' instructions one by one.
#pragma once

#include <span>

#include "emulator/native_function.h"

namespace barracuda::session {

std::span<const emulator::NativeFunction> native_logger();

}  // namespace barracuda::session
