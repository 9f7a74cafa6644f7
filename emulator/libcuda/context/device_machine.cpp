#include <mutex>

#include "emulator/libcuda.h"

namespace barracuda::emulator::driver {
namespace {

struct Settings {
  std::mutex mutex;
  MachineOptions options;
};

Settings& settings() {
  static auto* const instance = new Settings;
  return *instance;
}

MachineOptions current_options() {
  const std::lock_guard lock(settings().mutex);
  return settings().options;
}

}  // namespace

void configure(const MachineOptions& options) {
  const std::lock_guard lock(settings().mutex);
  settings().options = options;
}

Machine& machine() {
  static auto* const instance = new Machine(current_options());
  return *instance;
}

}  // namespace barracuda::emulator::driver
