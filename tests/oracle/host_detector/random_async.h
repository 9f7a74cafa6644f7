// Random but legal cluster barriers, mbarriers and asynchronous copies for random_trace.h.
#pragma once

#include <vector>

#include "tests/oracle/host_detector/random_trace.h"
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

struct AsyncRecord {
  detector::WarpOperation operation;
  wire::SiteInfo site;
};

// What `choice` lets lanes of `who` (launch, CTA, warp, mask) do now; nothing if that cannot be.
std::vector<AsyncRecord> async_records(const Choice& choice, const detector::WarpOperation& who,
                                       const TraceShape& shape, const ReferenceDetector& state);

// Its shared addresses become those of the other CTA of the cluster, if that is there.
void put_elsewhere_in_cluster(detector::WarpOperation& operation, const TraceShape& shape,
                              const ReferenceDetector& state);

}  // namespace barracuda::oracle
