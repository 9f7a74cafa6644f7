// A trace as a device would log it that keeps states of words of shared memory
// (device_logger/shared_states.h).
#pragma once

#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle {

// Of a trace without clusters and without copies.
Trace filtered(const Trace& trace);

}  // namespace barracuda::oracle
