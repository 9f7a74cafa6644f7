#include "emulator/state/launch.h"

#include <utility>

namespace barracuda::emulator {

void Launch::fail(DeviceError error) {
  const std::lock_guard lock(mutex_);
  if (error_.code == DeviceErrorCode::kNone) {
    error_ = std::move(error);
  }
  stop.store(true, std::memory_order_relaxed);
}

DeviceError Launch::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Launch::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  output_ += text;
}

std::string Launch::take_output() {
  const std::lock_guard lock(mutex_);
  return std::exchange(output_, {});
}

}  // namespace barracuda::emulator
