// A detector that is given once more what an Observer has heard. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "host_detector/detector.h"

namespace barracuda::detector {

// A record as it lay in its queue, for who wants to know what a trace holds; `launch` is left
// alone. False: it is malformed.
bool read_record(std::span<const std::byte> record, WarpOperation& operation);

class Replayer {
 public:
  explicit Replayer(const DetectorOptions& options) : detector_(make_detector(options)) {}

  Detector& detector() { return *detector_; }

  // A record as it lay in its queue. One that is malformed is counted, as live.
  void apply(LaunchId launch, std::span<const std::byte> record);

  [[nodiscard]] std::uint64_t rejected() const { return detector_->rejected() + malformed_; }

 private:
  std::unique_ptr<Detector> detector_;
  WarpOperation operation_;
  std::uint64_t malformed_ = 0;
};

}  // namespace barracuda::detector
