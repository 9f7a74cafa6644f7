// Events: points in time, and the work that was submitted when they were last recorded.
#pragma once

#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/stream/queue.h"

namespace barracuda::emulator::driver {

bool is_event(CUevent handle);
// All work before is over.
CUresult record_event(CUevent handle);
// It was recorded by work that was just submitted.
void set_ticket(CUevent handle, const Ticket& ticket);
Ticket ticket_of(CUevent handle);
void release_events(const Context& context);

}  // namespace barracuda::emulator::driver
