// Launches of rewritten code, which delays its stores, or is stressed, or counts its instructions:
// their descriptors, and the grids that they run on. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "device_logger/launch_descriptor.h"
#include "session/launch_request.h"
#include "session/launch_stress.h"
#include "session/module_registry.h"
#include "session/store_delayer.h"

namespace barracuda::session {

class RewrittenLaunches {
 public:
  // What a launch got.
  struct Begun {
    const wire::LaunchDescriptor* descriptor = nullptr;
    std::optional<detector::Dim3> grid;  // with blocks that stress
    std::uint32_t beside = 0;            // the stress beside it; 0: none
  };

  // `stress`: null if there is none.
  RewrittenLaunches(std::unique_ptr<StoreDelayer> delayer, std::unique_ptr<LaunchStress> stress);

  // Before the driver's call, and after it.
  Begun begin(const KernelBinding& kernel, const LaunchRequest& request,
              detector::StreamKey stream);
  void submitted(const Begun& begun, Handle stream);

  // The context, current still, is about to go; nothing runs in it.
  void close_context(Handle context);
  // Launches from now on run as the program wrote them.
  void close();

 private:
  std::mutex mutex_;
  std::unique_ptr<StoreDelayer> delayer_;  // null: closed
  std::unique_ptr<LaunchStress> stress_;   // null: nothing is stressed, or not any more
};

}  // namespace barracuda::session
