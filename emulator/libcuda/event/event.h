// Events: points in time, for all work before them has ended when they are recorded.
#pragma once

#include "emulator/libcuda/context/context.h"

namespace barracuda::emulator::driver {

bool is_event(CUevent handle);
// All work before has ended.
CUresult record_event(CUevent handle);
void release_events(const Context& context);

}  // namespace barracuda::emulator::driver
