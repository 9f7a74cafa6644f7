// A cluster in which every thread waits: who, where, for what.
#pragma once

#include "emulator/state/cluster.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

// Ends the launch.
void report_deadlock(Launch& launch, const Cluster& cluster);

}  // namespace barracuda::emulator
