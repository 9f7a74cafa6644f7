// Where in a launch one thread applies records: in one cluster, or in one CTA where there are none.
#pragma once

#include "host_detector/launch.h"

namespace barracuda::detector {

struct CtaState;
class GatheredAtomics;
struct LaunchState;

struct ClusterPart {
  LaunchId launch{};
  LaunchState* state = nullptr;         // null: it does not run
  CtaState* cta = nullptr;              // of the last operation
  GatheredAtomics* gathered = nullptr;  // may wait until its end; null: nothing does
};

}  // namespace barracuda::detector
