#include "host_detector/detector.h"

#include "host_detector/engines/paper_engine.h"
#include "host_detector/engines/ptx_engine.h"

namespace barracuda::detector {
namespace {

std::unique_ptr<Engine> make_engine(const DetectorOptions& options) {
  if (options.model == Model::kPaper) {
    return std::make_unique<paper::PaperEngine>(options);
  }
  return std::make_unique<PtxEngine>(options);
}

}  // namespace

Detector::ClusterApplier::ClusterApplier(Detector& detector, LaunchId launch)
    : engine_(*detector.engine_), part_(engine_.begin_part(launch)) {}

Detector::ClusterApplier::~ClusterApplier() {
  engine_.end_part(part_);
}

bool Detector::ClusterApplier::apply(const WarpOperation& operation) {
  return engine_.apply_part(part_, operation);
}

Detector::Detector(const DetectorOptions& options) : engine_(make_engine(options)) {}

Detector::~Detector() = default;

void Detector::add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
  engine_->add_sites(first, sites);
}

void Detector::add_tensor_map(std::uint64_t number, const TensorMap& map) {
  engine_->add_tensor_map(number, map);
}

void Detector::begin_launch(const LaunchInfo& launch) {
  engine_->begin_launch(launch);
}

void Detector::apply_copy(const CopyInfo& copy) {
  engine_->apply_copy(copy);
}

void Detector::apply(const WarpOperation& operation) {
  engine_->apply(operation);
}

void Detector::count(std::uint64_t applied, std::uint64_t rejected) {
  engine_->count(applied, rejected);
}

std::uint64_t Detector::contentions() const {
  return engine_->contentions();
}

bool Detector::launch_over(LaunchId launch) const {
  return engine_->launch_over(launch);
}

void Detector::end_launch(LaunchId launch) {
  engine_->end_launch(launch);
}

void Detector::forget(std::uint64_t address, std::uint64_t bytes) {
  engine_->forget(address, bytes);
}

std::vector<LaunchId> Detector::find_deadlocked() const {
  return engine_->find_deadlocked();
}

const Findings& Detector::findings() const {
  return engine_->log().findings();
}

Findings Detector::findings_so_far() const {
  return engine_->log().findings_so_far();
}

std::uint64_t Detector::finding_changes() const {
  return engine_->log().changes();
}

std::uint64_t Detector::applied() const {
  return engine_->applied();
}

std::uint64_t Detector::rejected() const {
  return engine_->rejected();
}

}  // namespace barracuda::detector
