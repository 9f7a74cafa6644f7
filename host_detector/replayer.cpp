#include "host_detector/replayer.h"

#include "host_detector/queue/decode.h"

namespace barracuda::detector {

bool read_record(std::span<const std::byte> record, WarpOperation& operation) {
  return decode(record, operation);
}

void Replayer::apply(LaunchId launch, std::span<const std::byte> record) {
  if (!decode(record, operation_)) {
    ++malformed_;
    return;
  }
  operation_.launch = launch;
  detector_->apply(operation_);
}

}  // namespace barracuda::detector
