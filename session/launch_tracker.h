// Launches from the call to the last record: what is appended to the arguments, which descriptor a
// launch has, when it is over. Knows the log area of each context. Thread-safe; drain() may wait.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "host_detector/pipeline.h"
#include "session/copy_book.h"
#include "session/device_area.h"
#include "session/kernel_filter.h"
#include "session/launch_arguments.h"
#include "session/launch_book.h"
#include "session/launch_watch.h"
#include "session/module_registry.h"
#include "session/problems.h"
#include "session/stream_tracker.h"
#include "trace/recorder.h"

namespace barracuda::session {

struct LaunchRequest {
  Handle function = 0;
  detector::Dim3 grid, block;
  std::optional<detector::Dim3> cluster;  // as given at the launch
  Handle stream = 0;                      // 0 is the legacy default stream
  bool is_programmatic = false;           // may begin before the kernel before it is over
  Handle event = 0;                       // that the launch records, if there is one
};

// One launch call, on the stack of the hook. Without begin() its arguments stay the program's.
class Launch {
 public:
  Launch(void** parameters, void** extra) { arguments_.emplace(parameters, extra); }

  void** parameters() { return arguments_ ? arguments_->parameters() : nullptr; }

  void** extra() { return arguments_ ? arguments_->extra() : nullptr; }

 private:
  friend class LaunchTracker;

  std::optional<LaunchArguments> arguments_;
  std::shared_ptr<const KernelBinding> kernel_;
  detector::LaunchId id_{};  // 0: not checked
  std::string unchecked_;    // why
  Handle stream_ = 0;
  Mark begin_{};           // for the watch
  bool captured_ = false;  // becomes a graph's node: nothing runs now
};

// A node of a graph launch.
struct GraphKernel {
  std::shared_ptr<const KernelBinding> kernel;  // null: not a kernel, or an unknown one
  bool is_kernel = false;
  bool is_checked = false;  // it can be given a descriptor
  bool is_disabled = false;
  detector::Dim3 grid, block;
  std::optional<detector::Dim3> cluster;
  std::vector<std::size_t> dependencies;  // earlier nodes
  std::optional<CopyRequest> copy;        // of a node that copies or sets memory
};

// What one kernel node gets for one replay.
struct GraphKernelLaunch {
  detector::LaunchId id{};  // 0: not checked
  std::uint64_t descriptor = 0;
};

class LaunchTracker {
 public:
  using TimeoutHandler = LaunchWatch::Callback;

  LaunchTracker(const Options& options, KernelFilter filter, DeviceDriver& driver,
                detector::Pipeline& pipeline, ModuleRegistry& modules, StreamTracker& streams,
                Problems& problems);
  ~LaunchTracker();
  LaunchTracker(const LaunchTracker&) = delete;
  LaunchTracker& operator=(const LaunchTracker&) = delete;

  // From now on, launches are told to it. It outlives this.
  void record(trace::Recorder* recorder) { recorder_ = recorder; }

  // Before the driver's launch call.
  void begin(Launch& launch, const LaunchRequest& request);
  // Instead, when nothing may be logged any more.
  void begin_unlogged(Launch& launch, Handle function);
  // After it, with its answer.
  void submitted(Launch& launch, DriverStatus status);

  // The driver has taken this copy. Not for one that a capture recorded.
  void copied(const CopyRequest& copy);

  // Before a replay of this executable graph: nodes stand in an order in which dependencies come
  // first.
  std::vector<GraphKernelLaunch> begin_graph(const std::vector<GraphKernel>& nodes,
                                             detector::StreamKey stream, std::uint64_t executable);
  void graph_submitted(const std::vector<GraphKernel>& nodes,
                       const std::vector<GraphKernelLaunch>& launches, DriverStatus status);

  // From now on, the handler hears of a launch that runs for longer.
  void watch(std::chrono::milliseconds timeout, TimeoutHandler too_long);
  // Around a graph's launch; launches of their own are watched by themselves.
  Mark watch_begin(Handle stream);
  void watch_end(Mark begin, Handle stream, WatchedLaunch launch);

  // A node that could not be given its descriptor runs unlogged.
  void give_up(GraphKernelLaunch& launch);

  // The device has finished all work of this context: waits until its records are checked. If the
  // work failed, its launches are over by decree.
  void drain(Handle context, bool failed);
  // Checks what has arrived, without the device; for a process that is being killed.
  void settle(std::chrono::milliseconds timeout);
  // No launch will ever end: all are over by decree, so that who waits for whom is reported.
  void give_up_all();
  // The contexts that have a log area.
  [[nodiscard]] std::vector<Handle> contexts() const;
  // After drain(): the context is about to go, and its area's memory with it.
  void close_context(Handle context);
  // Launches from now on run unchecked, for this reason.
  void close(const std::string& reason);

  // The launch that this thread is submitting; 0 outside.
  [[nodiscard]] static detector::LaunchId current();

  // " (its kernel)"; nothing if another thread stays in the tracker.
  [[nodiscard]] std::string try_describe(detector::LaunchId id) const;

  [[nodiscard]] std::vector<report::CopyRecord> copies_named_in(
      const detector::Findings& findings) const;

  // Runs `reader` on the book while no launch changes it.
  template <typename Reader>
  void read_book(const Reader& reader) const {
    const std::lock_guard lock(mutex_);
    reader(book_);
  }

 private:
  struct InFlight {
    detector::LaunchId id{};
    Handle context = 0;
    DeviceArea* area = nullptr;
    wire::LaunchDescriptor* descriptor = nullptr;
  };

  detector::CopyInfo open_copy(const CopyRequest& copy, detector::StreamKey stream);
  bool is_left_out(const KernelBinding& kernel);
  detector::LaunchId open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                          detector::StreamKey stream);
  // Puts the launch into its stream.
  void order(detector::LaunchInfo& info, detector::StreamKey stream, bool is_programmatic);
  DeviceArea* area_of(Handle context);
  // None while another thread is in the tracker: it may never leave.
  std::vector<detector::LaunchId> try_in_flight();
  void reap(bool thoroughly);
  // The descriptor of a new launch in flight, null with `reason` set if there is none.
  const wire::LaunchDescriptor* add_in_flight(detector::LaunchId id, Handle context,
                                              std::string& reason);
  void wait_for(detector::LaunchId id);
  void end(detector::LaunchId id);

  const Options& options_;
  const KernelFilter filter_;
  DeviceDriver& driver_;
  detector::Pipeline& pipeline_;
  ModuleRegistry& modules_;
  StreamTracker& streams_;
  Problems& problems_;
  trace::Recorder* recorder_ = nullptr;  // null: nothing is recorded
  mutable std::mutex mutex_;
  LaunchBook book_;
  CopyBook copies_;
  std::map<Handle, std::unique_ptr<DeviceArea>> areas_;  // null: no memory for one
  std::deque<InFlight> in_flight_;
  std::uint64_t matching_launches_ = 0;
  std::uint64_t begun_ = 0;
  std::string closed_;
  std::unique_ptr<LaunchWatch> watch_;  // null: the option is not set
};

}  // namespace barracuda::session
