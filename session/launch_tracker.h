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

#include "base/held_lock.h"
#include "base/options.h"
#include "host_detector/pipeline.h"
#include "session/allocation_table.h"
#include "session/copy_book.h"
#include "session/device_area.h"
#include "session/kernel_filter.h"
#include "session/launch_arguments.h"
#include "session/launch_book.h"
#include "session/launch_stress.h"
#include "session/launch_watch.h"
#include "session/module_registry.h"
#include "session/problems.h"
#include "session/store_delayer.h"
#include "session/stream_tracker.h"
#include "session/unlogged_accesses.h"
#include "trace/recorder.h"

namespace barracuda::session {

struct LaunchRequest {
  Handle function = 0;
  detector::Dim3 grid, block;
  std::optional<detector::Dim3> cluster;  // as given at the launch
  Handle stream = 0;                      // 0 is the legacy default stream
  bool is_programmatic = false;           // may begin before the kernel before it is over
  bool is_cooperative = false;            // all blocks run at once
  std::uint32_t shared_bytes = 0;         // dynamic shared memory of a block
  Handle event = 0;                       // that the launch records, if there is one
  std::vector<MemoryRange> constants;     // that the kernel may read
};

// One launch call, on the stack of the hook. Without begin() its arguments stay the program's.
class Launch {
 public:
  Launch(void** parameters, void** extra) { arguments_.emplace(parameters, extra); }

  void** parameters() { return arguments_ ? arguments_->parameters() : nullptr; }

  void** extra() { return arguments_ ? arguments_->extra() : nullptr; }

  // That is to be launched, of the one that the program asked for.
  [[nodiscard]] detector::Dim3 grid(const detector::Dim3& asked) const {
    return grid_.value_or(asked);
  }

 private:
  friend class LaunchTracker;

  std::optional<LaunchArguments> arguments_;
  const wire::LaunchDescriptor* rewritten_ = nullptr;  // for delayed stores, or stress
  std::optional<detector::Dim3> grid_;                 // with blocks that stress
  std::uint32_t beside_ = 0;                           // the stress beside it; 0: none
  std::shared_ptr<const KernelBinding> kernel_;
  detector::LaunchId opened_{};  // in the books; 0: not checked
  detector::LaunchId id_{};      // the same, once everybody knows of it
  LaunchCheck check_;
  Handle stream_ = 0;
  Mark begin_{};           // for the watch
  bool captured_ = false;  // becomes a graph's node: nothing runs now
  bool is_counted_ = false;
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
  bool is_left_out = false;  // by the user's options
};

class LaunchTracker {
 public:
  using TimeoutHandler = LaunchWatch::Callback;

  LaunchTracker(const Options& options, KernelFilter filter, DeviceDriver& driver,
                detector::Pipeline& pipeline, ModuleRegistry& modules, StreamTracker& streams,
                const AllocationTable& allocations, Problems& problems);
  ~LaunchTracker();
  LaunchTracker(const LaunchTracker&) = delete;
  LaunchTracker& operator=(const LaunchTracker&) = delete;

  // Makes what launches of this context log into, unless it is there: a first kernel would take
  // tens of milliseconds longer.
  void prepare(Handle context);

  // From now on, launches are told to it. It outlives this.
  void record(trace::Recorder* recorder) { recorder_ = recorder; }

  // From now on, nothing is checked; launches delay their stores, and are stressed if there is
  // stress: what they run was rewritten for that.
  void rewrite(std::unique_ptr<StoreDelayer> delayer, std::unique_ptr<LaunchStress> stress);
  // Before the driver's launch call.
  void begin(Launch& launch, const LaunchRequest& request);
  // Instead, when nothing may be logged any more.
  void begin_unlogged(Launch& launch, Handle function);
  // After a begin() that has failed: what it has begun is over, and the launch runs unlogged.
  void abandon(Launch& launch, Handle function);
  // After it, with its answer.
  void submitted(Launch& launch, DriverStatus status);

  // The driver has taken this copy. Not for one that a capture recorded.
  void copied(const CopyRequest& copy);
  // Memory is about to be freed, or was allocated, in the order of a stream; the bytes that it got
  // were freed by these. 0: not known to the detector.
  detector::CopyId freed(const MemoryRange& range, Handle stream);
  void allocated(const MemoryRange& range, Handle stream, std::vector<detector::CopyId> freed_by);

  // Before a replay of this executable graph: nodes stand in an order in which dependencies come
  // first.
  std::vector<GraphKernelLaunch> begin_graph(const std::vector<GraphKernel>& nodes,
                                             detector::StreamKey stream, std::uint64_t executable);
  // When every node has got what it can get, just before the driver's call; and after it.
  void graph_submitting(const std::vector<GraphKernel>& nodes,
                        const std::vector<GraphKernelLaunch>& launches);
  void graph_submitted(const std::vector<GraphKernel>& nodes,
                       const std::vector<GraphKernelLaunch>& launches, DriverStatus status);

  // From now on, the handler is called for a launch that runs for longer.
  void watch(std::chrono::milliseconds timeout, TimeoutHandler too_long);
  // Around a graph's launch; launches of their own are watched by themselves.
  Mark watch_begin(Handle stream);
  void watch_end(Mark begin, Handle stream, WatchedLaunch launch);

  // A node that could not be given its descriptor runs unlogged.
  void give_up(GraphKernelLaunch& launch);

  // The device has finished all work of this context: waits until its records are checked. If the
  // work failed, force-ends its launches.
  void drain(Handle context, bool failed);
  // Checks what has arrived, without the device; for a process that is being killed.
  void settle(std::chrono::milliseconds timeout);
  // No launch will ever end: force-ends all, so that it is reported which threads wait.
  void give_up_all();
  // The contexts that have a log area.
  [[nodiscard]] std::vector<Handle> contexts() const;
  // After drain(): the context is about to go, and its area's memory with it.
  void close_context(Handle context);
  // Launches from now on run unchecked, for this reason.
  void close(const std::string& reason);

  // The launch that this thread is submitting; 0 outside.
  [[nodiscard]] static detector::LaunchId current();

  // " (its kernel)".
  [[nodiscard]] std::string describe(detector::LaunchId id) const;

  [[nodiscard]] std::vector<report::CopyRecord> copies_named_in(
      const detector::Findings& findings) const;

  // Runs `reader` on the book while no launch changes it.
  template <typename Reader>
  void read_book(const Reader& reader) const {
    const HeldLock lock(book_mutex_);
    reader(book_);
  }

 private:
  struct InFlight {
    detector::LaunchId id{};
    Handle context = 0;
    DeviceArea* area = nullptr;
    wire::LaunchDescriptor* descriptor = nullptr;
  };

  // Lets the program have its signals between two slices of a wait, while nothing is held.
  bool wait_a_slice(detector::LaunchId id, std::chrono::milliseconds slice);
  // Instead of begin()'s checks.
  void begin_rewritten(Launch& launch, const LaunchRequest& request, detector::StreamKey stream);
  // The arena, descriptor and grid of its rewritten code. The mutex is held.
  void place_rewritten(Launch& launch, const LaunchRequest& request, detector::StreamKey stream);
  // Counts a launch that the driver is about to be given, or has refused.
  void count(Launch& launch);
  void count(const KernelBinding* kernel, const LaunchCheck& check);
  void refused(const KernelBinding* kernel, const LaunchCheck& check);
  detector::CopyInfo open_copy(const CopyRequest& copy, detector::StreamKey stream);
  // Puts it into its stream. The mutex is held.
  detector::CopyId begin_copy(detector::CopyInfo info, detector::StreamKey stream);
  bool is_left_out(const KernelBinding& kernel, bool can_be_checked);
  detector::LaunchId open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                          detector::StreamKey stream);
  // Puts what the launch may read just before it.
  void read_constants(const LaunchRequest& request, detector::StreamKey stream);
  // Puts the launch into its stream.
  void order(detector::LaunchInfo& info, detector::StreamKey stream, bool is_programmatic);
  DeviceArea* area_of(Handle context);
  // None while another thread is in the tracker: it may never leave.
  std::vector<detector::LaunchId> try_in_flight();
  void reap(bool thoroughly);
  // What is in flight has an area and a descriptor, and stands in the order of the launches.
  [[nodiscard]] bool is_valid() const;
  // From the oldest one in flight to the next to be opened.
  [[nodiscard]] std::size_t span_in_flight() const;
  // Waits for detection where so many more launches would be too many. Holds nothing meanwhile.
  void make_room(std::size_t launches);
  // The descriptor of a new launch in flight, null with `reason` set if there is none.
  wire::LaunchDescriptor* add_in_flight(const KernelBinding& kernel,
                                        const detector::LaunchInfo& info, Handle context,
                                        std::string& reason);
  // Gives its descriptor back.
  void release(const InFlight& launch);
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
  // Of the two books. Held for look-ups and additions only, never while anything is waited for: the
  // report of a process that is being killed reads them.
  mutable std::mutex book_mutex_;
  LaunchBook book_;
  CopyBook copies_;
  mutable std::mutex mutex_;  // of what follows; taken before book_mutex_
  std::map<Handle, std::unique_ptr<DeviceArea>> areas_;  // null: no memory for one
  std::deque<InFlight> in_flight_;
  UnloggedAccesses unlogged_;
  detector::LaunchId in_the_way_{};  // the oldest, for which it was waited in vain
  std::uint64_t matching_launches_ = 0;
  std::uint64_t begun_ = 0;
  std::string closed_;
  std::unique_ptr<StoreDelayer> delayer_;  // null: nothing is rewritten, or not any more
  std::unique_ptr<LaunchStress> stress_;   // null: nothing is stressed, or not any more
  std::unique_ptr<LaunchWatch> watch_;     // null: the option is not set
};

}  // namespace barracuda::session
