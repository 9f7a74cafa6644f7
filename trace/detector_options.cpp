#include "trace/detector_options.h"

namespace barracuda::trace {

detector::DetectorOptions detector_options(const Options& options) {
  detector::DetectorOptions made;
  made.report_same_value = options.report_same_value;
  made.acquire_relaxed_spin = options.acquire == "relaxed-spin";
  made.model = options.model == "paper" ? detector::Model::kPaper : detector::Model::kPtx;
  return made;
}

}  // namespace barracuda::trace
