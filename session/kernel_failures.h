// Kernels that did not run to their end, and those that cannot run here. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/machine.h"
#include "report/run_data.h"
#include "session/device_driver.h"
#include "session/launch_watch.h"
#include "session/module_registry.h"

namespace barracuda::session {

// An error after which a context is of no more use: its kernel died.
bool is_sticky(DriverStatus status);

class KernelFailures {
 public:
  KernelFailures(const DeviceDriver& driver, const ModuleRegistry& modules)
      : driver_(driver), modules_(modules) {}

  // The emulated device could not take an image that has no PTX.
  void image_blocked(const std::string& reason);
  // A kernel of the emulated device died. 0: its launch is not checked.
  void device_failed(const emulator::DeviceError& error, std::string_view kernel,
                     detector::LaunchId launch);
  // A call had this sticky answer. False if the context's failure is known.
  bool context_failed(Handle context, DriverStatus status);
  // The launch that the last failure of a GPU's context is likely of.
  void kernel_died(const WatchedLaunch& launch);
  // Its handle may come back.
  void context_ended(Handle context);
  // On a GPU, where the program has to be ended.
  void timed_out(const WatchedLaunch& launch, std::uint64_t seconds);

  void add_to(report::RunData& run) const;

 private:
  // Exit status 67, with this sentence.
  void kernel_blocked(const std::string& reason);
  // Of a line of the loaded PTX, innermost first; the function alone where there is no more.
  [[nodiscard]] std::vector<ptx::SourceFrame> frames_at(std::string_view kernel,
                                                        const std::string& function,
                                                        std::uint32_t ptx_line) const;

  const DeviceDriver& driver_;
  const ModuleRegistry& modules_;
  mutable std::mutex mutex_;
  std::vector<std::string> blocked_;
  std::vector<report::MemoryErrorRecord> memory_errors_;
  std::set<Handle> failed_contexts_;
};

}  // namespace barracuda::session
