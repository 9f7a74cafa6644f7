// The session's view of the device, over the driver's own functions.
#pragma once

#include <memory>

#include "session/device_driver.h"

namespace barracuda::preload {

std::unique_ptr<session::DeviceDriver> make_unhooked_driver();

}  // namespace barracuda::preload
