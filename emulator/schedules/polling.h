// Whether the warps of a cluster do nothing but poll: asked of those that were watched for a while.
#pragma once

#include "emulator/state/cluster.h"
#include "emulator/state/context.h"

namespace barracuda::emulator {

// From now on what the warps that this context runs do to memory is watched, or no longer.
void observe(Context& context, bool wanted);
// What was seen of the cluster's warps so far does not count.
void forget_observations(Cluster& cluster);
// Every lane waits for others, or reads the same again and again.
bool only_polls(const Cluster& cluster);
// What they read is not what is there now.
bool is_outdated(const Cluster& cluster, const Memory& memory);

}  // namespace barracuda::emulator
