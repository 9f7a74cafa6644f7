// One run of the tool in one process: what was loaded, launched and allocated, and the detector
// that checks it. preload/ makes one at the first use of CUDA and feeds it from the hooks; finish()
// turns it into a report. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/tensor_map.h"
#include "emulator/machine.h"
#include "host_detector/pipeline.h"
#include "report/run_data.h"
#include "session/allocation_table.h"
#include "session/device_driver.h"
#include "session/launch_tracker.h"
#include "session/module_registry.h"
#include "session/problems.h"
#include "session/ptx_changes.h"
#include "session/stream_tracker.h"
#include "session/tensor_map_book.h"
#include "trace/recorder.h"

namespace barracuda::session {

// An error after which a context is of no more use: its kernel died.
bool is_sticky(DriverStatus status);

class Session {
 public:
  // On a GPU, hears of a launch with a block whose threads all wait at barriers that can never
  // open. Called in a thread of the pipeline's, which must not wait; the finding is made by
  // end_launch() or give_up_launches(), in another thread.
  using DeadlockHandler = std::function<void(detector::LaunchId)>;

  // Errors: an option that the device or the filter cannot take.
  static Expected<std::unique_ptr<Session>> create(const Options& options,
                                                   std::unique_ptr<DeviceDriver> driver,
                                                   DeadlockHandler on_deadlock);

  DeviceDriver& driver() { return *driver_; }

  ModuleRegistry& modules() { return modules_; }

  StreamTracker& streams() { return streams_; }

  LaunchTracker& launches() { return launches_; }

  AllocationTable& allocations() { return allocations_; }

  Problems& problems() { return problems_; }

  // What the driver gets to load instead of this image; its sites are known to the detector. They
  // throw nothing of what reading and instrumenting throws: such an image is loaded unchanged.
  const ProgramImage& prepare(const void* image);
  const ProgramImage& prepare_file(const std::string& content);

  // A module was loaded, or memory allocated: what launches of the current context log into is
  // made, if kernels may log, and is not there yet. CUDA's runtime loads modules when it is first
  // asked for one of their kernels, other programs when they begin, without a context.
  void prepare_launches();

  // Who knows what machine code was made of; before any image is prepared.
  void know_code(FindOrigin find) { find_origin_ = find; }

  // The emulated device could not take an image that has no PTX.
  void image_blocked(const std::string& reason);
  // A kernel of this function's module is about to be launched: its variables have addresses now.
  // The constants that the kernel may read.
  std::vector<MemoryRange> note_variables(Handle function);
  // The same for a kernel in a part of its own, which is to find its module's variables: without
  // this it must not be launched. False if it cannot be done.
  [[nodiscard]] bool place_variables(Handle function);

  // While a stream is captured, waiting for the context would end the capture.
  void capture_began() { ++captures_; }

  void capture_ended() { --captures_; }

  // The program waited for a whole context, with this answer.
  void context_synchronized(Handle context, DriverStatus status);
  // Any call's answer: one that says that a kernel died ends the launches of the current context.
  void observe(DriverStatus status);
  // Waits for the current context's work and for its records to be checked.
  void drain_current();
  // Memory was allocated that nobody may use yet.
  void allocated(const MemoryRange& range, const std::string& description);
  // Before memory that starts at `address` is freed. Waits for the work that may still touch it.
  void before_free(std::uint64_t address);
  // The same for memory freed in the order of a stream, and after it is allocated there. Nothing is
  // waited for: what the free comes after ends with it.
  void before_stream_free(std::uint64_t address, Handle stream);
  void stream_allocated(const MemoryRange& range, Handle stream, const char* function);
  // The program has had a tensor map written: its 128 bytes and what they mean, or nothing where
  // that is no map whose copies are followed.
  void tensor_map_made(const void* bytes, const std::optional<TensorMap>& map);
  // The same map for another address. `before`: its number as it was (tensor_map_number).
  void tensor_map_moved(const void* bytes, std::uint64_t before, std::uint64_t address);
  static std::uint64_t tensor_map_number(const void* bytes);
  void before_unload(Handle module);
  // Before a context is destroyed or reset.
  void before_context_end(Handle context);
  // A kernel of the emulated device died; called while it is being launched.
  void device_failed(const emulator::DeviceError& error, std::string_view kernel);

  // The option at-launch-timeout=end on a GPU. The handler is called when the report knows of the
  // launch that has run for too long, and has to end the process: the kernel cannot be ended.
  void watch_launches(const std::function<void()>& too_long);

  // While the driver still works, at the process's end: all that was launched is checked; what is
  // launched later runs unchecked. A function that a stream called must not wait for the device:
  // then what the kernels have logged so far is checked.
  void close(bool can_wait);

  // The process is being killed: checks what has arrived, without the device.
  void settle(std::chrono::milliseconds timeout) { launches_.settle(timeout); }

  // A launch will not end: checks what has arrived, and force-ends all launches.
  void give_up_launches(std::chrono::milliseconds timeout) {
    launches_.settle(timeout);
    launches_.give_up_all();
  }

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
  using Constants = std::map<std::string, MemoryRange, std::less<>>;

  struct PlacedPart {
    const LoadedModule* module = nullptr;
    Handle part = 0, context = 0;

    friend auto operator<=>(const PlacedPart&, const PlacedPart&) = default;
  };

  static std::vector<MemoryRange> constants_of(const KernelBinding& kernel,
                                               const Constants& of_module);

  // Exit status 67, with this sentence.
  void kernel_blocked(const std::string& reason);
  Session(const Options& options, KernelFilter filter, PtxChanges changes,
          std::unique_ptr<DeviceDriver> driver, DeadlockHandler on_deadlock);

  template <typename Read>
  const ProgramImage& prepare_guarded(const Read& read);
  const ProgramImage& prepare_source(const ImageSource& source);
  DriverStatus synchronize(Handle context);
  void context_failed(Handle context, DriverStatus status);
  void forget(const MemoryRange& range);
  void add_gaps(report::RunData& run, Reading reading) const;
  // Of a line of the loaded PTX, innermost first; the function alone where there is no more.
  [[nodiscard]] std::vector<ptx::SourceFrame> frames_at(std::string_view kernel,
                                                        const std::string& function,
                                                        std::uint32_t ptx_line) const;
  void tell_late(const detector::LateLaunch& launch) const;

  const Options options_;
  const std::unique_ptr<DeviceDriver> driver_;
  FindOrigin find_origin_ = nullptr;
  Problems problems_;
  const std::unique_ptr<trace::Recorder> recorder_;  // null: nothing is recorded
  TensorMapBook tensor_maps_;
  detector::Pipeline pipeline_;
  ModuleRegistry modules_;
  StreamTracker streams_;
  AllocationTable allocations_;
  LaunchTracker launches_;
  std::atomic<int> captures_ = 0;
  std::atomic<bool> has_sites_ = false;  // launches may be logged
  std::atomic<bool> closed_ = false;
  mutable std::mutex mutex_;
  std::string device_name_;
  std::vector<std::string> blocked_;
  std::vector<report::MemoryErrorRecord> memory_errors_;
  std::set<Handle> failed_contexts_;
  // Of the modules and contexts whose variables were noted.
  std::map<std::pair<const LoadedModule*, Handle>, Constants> constants_;
  // The parts that know where their variables are, and the contexts.
  std::set<PlacedPart> placed_;
};

}  // namespace barracuda::session
