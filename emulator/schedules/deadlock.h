// A cluster in which every thread waits: who, where, for what.
#pragma once

#include <string>

#include "emulator/state/cluster.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

// Ends the launch.
void report_deadlock(Launch& launch, const Cluster& cluster);

// Why a launch is ended: in a report, and in a message behind the kernel's name.
struct EndReason {
  std::string what, sentence;
};

// Ends the launch from outside, and names some of the threads of the cluster; null: of none.
void end_where_it_stands(Launch& launch, const Cluster* cluster, DeviceErrorCode code,
                         const EndReason& reason);

}  // namespace barracuda::emulator
