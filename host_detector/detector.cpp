#include "host_detector/detector.h"

#include "host_detector/engines/paper_engine.h"
#include "host_detector/engines/ptx_engine.h"

namespace barracuda::detector {

Detector::ClusterApplier::ClusterApplier(Detector& detector, LaunchId launch)
    : detector_(detector), part_(detector.begin_part(launch)) {}

Detector::ClusterApplier::~ClusterApplier() {
  detector_.end_part(part_);
}

bool Detector::ClusterApplier::apply(const WarpOperation& operation) {
  return detector_.apply_part(part_, operation);
}

const Findings& Detector::findings() const {
  return log().findings();
}

Findings Detector::findings_so_far() const {
  return log().findings_so_far();
}

std::uint64_t Detector::finding_changes() const {
  return log().changes();
}

void Detector::limit_races(std::uint64_t most, std::function<void(wire::SiteId)> on_enough) {
  log().limit(most, std::move(on_enough));
}

std::unique_ptr<Detector> make_detector(const DetectorOptions& options) {
  if (options.model == Model::kPaper) {
    return std::make_unique<paper::PaperEngine>(options);
  }
  return std::make_unique<PtxEngine>(options);
}

}  // namespace barracuda::detector
