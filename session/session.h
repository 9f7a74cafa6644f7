// One run of the tool in one process: what was loaded, launched and allocated, and the detector
// that checks it. preload/ makes one at the first use of CUDA and feeds it from the hooks; finish()
// turns it into a report. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "emulator/machine.h"
#include "host_detector/pipeline.h"
#include "report/run_data.h"
#include "session/allocation_table.h"
#include "session/device_driver.h"
#include "session/launch_tracker.h"
#include "session/module_registry.h"
#include "session/problems.h"
#include "session/stream_tracker.h"
#include "trace/recorder.h"

namespace barracuda::session {

// An error after which a context is of no more use: its kernel died.
bool is_sticky(DriverStatus status);

class Session {
 public:
  // Errors: an option that the device or the filter cannot take.
  static Expected<std::unique_ptr<Session>> create(const Options& options,
                                                   std::unique_ptr<DeviceDriver> driver);

  DeviceDriver& driver() { return *driver_; }

  ModuleRegistry& modules() { return modules_; }

  StreamTracker& streams() { return streams_; }

  LaunchTracker& launches() { return launches_; }

  AllocationTable& allocations() { return allocations_; }

  Problems& problems() { return problems_; }

  // What the driver gets to load instead of this image; its sites are known to the detector.
  const ProgramImage& prepare(const void* image);
  const ProgramImage& prepare_file(const std::string& content);
  // For machine code that the program made itself.
  const ProgramImage& prepare_origin(const CodeOrigin& origin);
  // The emulated device could not take an image that has no PTX.
  void image_blocked(const std::string& reason);
  // A kernel of this function's module is about to be launched: its variables have addresses now.
  void note_variables(Handle function);

  // While a stream is captured, waiting for the context would end the capture.
  void capture_began() { ++captures_; }

  void capture_ended() { --captures_; }

  // The program waited for a whole context, with this answer.
  void context_synchronized(Handle context, DriverStatus status);
  // Any call's answer: one that says that a kernel died ends the launches of the current context.
  void observe(DriverStatus status);
  // Waits for the current context's work and for its records to be checked.
  void drain_current();
  // Before memory that starts at `address` is freed. Waits for the work that may still touch it.
  void before_free(std::uint64_t address);
  // The same for memory freed in the order of a stream; waits for that stream only, and not for
  // ever.
  void before_stream_free(std::uint64_t address, Handle stream);
  void before_unload(Handle module);
  // Before a context is destroyed or reset.
  void before_context_end(Handle context);
  // A kernel of the emulated device died; called while it is being launched.
  void device_failed(const emulator::DeviceError& error, std::string_view kernel);

  // The option at-launch-timeout=end on a GPU. The handler is called when the report knows of the
  // launch that has run for too long, and has to end the process: the kernel cannot be ended.
  void watch_launches(const std::function<void()>& too_long);

  // While the driver still works, at the process's end: all that was launched is checked; what is
  // launched later runs unchecked.
  void close();

  // The process is being killed: checks what has arrived, without the device.
  void settle(std::chrono::milliseconds timeout) { launches_.settle(timeout); }

  // A launch will not end: checks what has arrived, and ends all by decree.
  void give_up_launches(std::chrono::milliseconds timeout) {
    launches_.settle(timeout);
    launches_.give_up_all();
  }

  // In a forked child, where nothing of the session works.
  void abandon();

  [[nodiscard]] report::RunData run_data() const;

  // The end of the trace, if there is one, with what is reported. Nothing is recorded afterwards.
  Expected<void> finish_trace(const report::RunData& run);

 private:
  // Exit status 67, with this sentence.
  void kernel_blocked(const std::string& reason);
  Session(const Options& options, KernelFilter filter, std::unique_ptr<DeviceDriver> driver);

  const ProgramImage& prepare_source(const ImageSource& source);
  void context_failed(Handle context, DriverStatus status);
  void forget(const MemoryRange& range);
  void add_gaps(report::RunData& run) const;
  void tell_late(const detector::LateLaunch& launch) const;

  const Options options_;
  const std::unique_ptr<DeviceDriver> driver_;
  Problems problems_;
  const std::unique_ptr<trace::Recorder> recorder_;  // null: nothing is recorded
  detector::Pipeline pipeline_;
  ModuleRegistry modules_;
  StreamTracker streams_;
  AllocationTable allocations_;
  LaunchTracker launches_;
  std::atomic<int> captures_ = 0;
  std::atomic<bool> closed_ = false;
  mutable std::mutex mutex_;
  std::string device_name_;
  std::vector<std::string> blocked_;
  std::vector<report::MemoryErrorRecord> memory_errors_;
  std::set<Handle> failed_contexts_;
  std::set<std::pair<const LoadedModule*, Handle>> noted_variables_;
};

}  // namespace barracuda::session
