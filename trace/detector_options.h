// What the options of a run mean to the detector, live and in a replay.
#pragma once

#include "base/options.h"
#include "host_detector/detector.h"

namespace barracuda::trace {

detector::DetectorOptions detector_options(const Options& options);

}  // namespace barracuda::trace
