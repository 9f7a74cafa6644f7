// The program's contexts: when their work is over, or has failed, and when they go. Thread-safe.
// A function that waits for the device says so where it is declared.
#pragma once

#include <atomic>
#include <chrono>

#include "session/device_driver.h"
#include "session/image_preparer.h"
#include "session/kernel_failures.h"
#include "session/launch_tracker.h"
#include "session/launches_in_flight.h"
#include "session/module_variables.h"
#include "session/stream_tracker.h"

namespace barracuda::session {

class ContextTracker {
 public:
  ContextTracker(DeviceDriver& driver, StreamTracker& streams, const ImagePreparer& images,
                 LaunchesInFlight& in_flight, LaunchTracker& launches, ModuleVariables& variables,
                 KernelFailures& failures)
      : driver_(driver),
        streams_(streams),
        images_(images),
        in_flight_(in_flight),
        launches_(launches),
        variables_(variables),
        failures_(failures) {}

  // A module was loaded, or memory allocated: what launches of the current context log into is
  // made, if kernels may log, and is not there yet. CUDA's runtime loads modules when it is first
  // asked for one of their kernels, other programs when they begin, without a context.
  void prepare_launches();

  // While a stream is captured, waiting for the context would end the capture.
  void capture_began() { ++captures_; }

  void capture_ended() { --captures_; }

  // The program waited for a whole context, with this answer.
  void synchronized(Handle context, DriverStatus status);
  // Any call's answer: one that says that a kernel died ends the launches of the current context.
  void observe(DriverStatus status);
  // Waits for the current context's work and for its records to be checked.
  void drain_current();
  // Before a context is destroyed or reset. Waits as drain_current().
  void before_end(Handle context);
  // While the driver still works, at the process's end: all that was launched is checked; what is
  // launched later runs unchecked. A function that a stream called must not wait for the device:
  // then what the kernels have logged so far is checked.
  void close(bool can_wait);

  // The driver may be gone.
  [[nodiscard]] bool is_closed() const { return closed_; }

 private:
  static constexpr std::chrono::seconds kStreamPatience{10};
  // For the records that say which launches had ended before one of them died.
  static constexpr std::chrono::seconds kFailurePatience{5};

  DriverStatus synchronize(Handle context);
  void failed(Handle context, DriverStatus status);

  DeviceDriver& driver_;
  StreamTracker& streams_;
  const ImagePreparer& images_;
  LaunchesInFlight& in_flight_;
  LaunchTracker& launches_;
  ModuleVariables& variables_;
  KernelFailures& failures_;
  std::atomic<int> captures_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace barracuda::session
