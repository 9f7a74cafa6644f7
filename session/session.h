// One run of the tool in one process: what was loaded, launched and allocated, and the detector
// that checks it. preload/ makes one at the first use of CUDA and feeds it from the hooks; finish()
// turns it into a report. Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "base/options.h"
#include "host_detector/pipeline.h"
#include "report/run_data.h"
#include "session/allocation_places.h"
#include "session/allocation_table.h"
#include "session/context_tracker.h"
#include "session/copy_tracker.h"
#include "session/device_driver.h"
#include "session/graph_launches.h"
#include "session/image_preparer.h"
#include "session/kernel_failures.h"
#include "session/launch_tracker.h"
#include "session/launches_in_flight.h"
#include "session/memory_tracker.h"
#include "session/module_registry.h"
#include "session/module_variables.h"
#include "session/problems.h"
#include "session/ptx_changes.h"
#include "session/run_books.h"
#include "session/stream_tracker.h"
#include "session/tensor_map_book.h"
#include "trace/recorder.h"

namespace barracuda::session {

class Session {
 public:
  // Called in a thread of the pipeline's, which must not wait.
  struct Handlers {
    // On a GPU, hears of a launch with a block whose threads all wait at barriers that can never
    // open; the finding is made by end_launch() or give_up_launches(), in another thread.
    std::function<void(detector::LaunchId)> on_deadlock;
    // Something is found, or more of what was.
    std::function<void()> on_finding;
  };

  // Errors: an option that the device or the filter cannot take.
  static Expected<std::unique_ptr<Session>> create(const Options& options,
                                                   std::unique_ptr<DeviceDriver> driver,
                                                   Handlers handlers);

  DeviceDriver& driver() { return *driver_; }

  Problems& problems() { return problems_; }

  // What was loaded.
  ImagePreparer& images() { return images_; }

  ModuleRegistry& modules() { return modules_; }

  ModuleVariables& variables() { return variables_; }

  TensorMapBook& tensor_maps() { return tensor_maps_; }

  // What was launched, copied and waited for.
  StreamTracker& streams() { return streams_; }

  LaunchTracker& launches() { return launches_; }

  GraphLaunches& graphs() { return graphs_; }

  LaunchesInFlight& in_flight() { return in_flight_; }

  CopyTracker& copies() { return copies_; }

  MemoryTracker& memory() { return memory_; }

  AllocationTable& allocations() { return allocations_; }

  ContextTracker& contexts() { return contexts_; }

  KernelFailures& failures() { return failures_; }

  // Before a module or library is unloaded. Waits for its work.
  void before_unload(Handle module);

  // The option at-launch-timeout=end on a GPU. The handler is called when the report knows of the
  // launch that has run for too long, and has to end the process: the kernel cannot be ended.
  void watch_launches(const std::function<void()>& too_long);

  // ContextTracker::close(), at the process's end.
  void close(bool can_wait);

  // In a forked child, where nothing of the session works.
  void abandon();

  // Whether anything is found after what is read.
  enum class Reading : std::uint8_t { kSoFar, kLast };
  // Takes no lock that anybody holds while waiting for the program or the device.
  [[nodiscard]] report::RunData run_data(Reading reading) const;
  // Grows with every new finding and every one that became worse. Waits for nothing.
  [[nodiscard]] std::uint64_t finding_changes() const;

  // Force-ends a launch that can never end, so that its divergence is found.
  void end_launch(detector::LaunchId launch);

  // The end of the trace, if there is one, with what is reported. Nothing is recorded afterwards.
  Expected<void> finish_trace(const report::RunData& run);
  // The file of the option fence-places, of the kernels that were launched.
  [[nodiscard]] Expected<void> write_fence_places(const report::RunData& run) const;

 private:
  Session(const Options& options, KernelFilter filter, PtxChanges changes,
          std::unique_ptr<DeviceDriver> driver, Handlers handlers);

  void add_gaps(report::RunData& run, Reading reading) const;
  void tell_late(const detector::LateLaunch& launch) const;

  const Options options_;
  const std::unique_ptr<DeviceDriver> driver_;
  Problems problems_;
  const std::unique_ptr<trace::Recorder> recorder_;  // null: nothing is recorded
  detector::Pipeline pipeline_;
  TensorMapBook tensor_maps_{pipeline_};
  ModuleRegistry modules_;
  StreamTracker streams_;
  AllocationTable allocations_;
  AllocationPlaces places_;
  ImagePreparer images_;
  ModuleVariables variables_;
  KernelFailures failures_;
  RunBooks books_;
  LaunchesInFlight in_flight_;
  CopyTracker copies_;
  LaunchFilter filter_;
  LaunchTracker launches_;
  GraphLaunches graphs_;
  ContextTracker contexts_;
  MemoryTracker memory_;
};

}  // namespace barracuda::session
