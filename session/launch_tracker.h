// Launches, each from the call to the driver's answer: what is appended to the arguments, and which
// descriptor a launch has. Thread-safe; begin() may wait for detection.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host_detector/pipeline.h"
#include "session/copy_tracker.h"
#include "session/kernel_timer.h"
#include "session/launch_arguments.h"
#include "session/launch_filter.h"
#include "session/launch_request.h"
#include "session/launch_watch.h"
#include "session/launches_in_flight.h"
#include "session/module_registry.h"
#include "session/repeated_launches.h"
#include "session/rewritten_launches.h"
#include "session/run_books.h"
#include "session/stream_tracker.h"

namespace barracuda::session {

struct LaunchShape {
  detector::Dim3 grid;
  std::uint32_t shared_bytes = 0;  // dynamic
  // It begins when all that is before it in its stream is over, if it is programmatic: what a
  // launch that is checked logs with was cleared there, and only then is it sure to see that.
  bool is_serial = false;
};

// One launch call, on the stack of the hook. Without begin() its arguments stay the program's.
class Launch {
 public:
  Launch(void** parameters, void** extra) { arguments_.emplace(parameters, extra); }

  void** parameters() { return arguments_ ? arguments_->parameters() : nullptr; }

  void** extra() { return arguments_ ? arguments_->extra() : nullptr; }

  // Which form of the kernel is launched in its place.
  enum class Form : std::uint8_t { kLogging, kGuarded, kPlain, kUninstrumented };

  [[nodiscard]] Form form() const { return form_; }

  // What is to be launched, where the program asked for this.
  [[nodiscard]] LaunchShape shape(const LaunchRequest& asked) const {
    return {.grid = rewritten_.grid.value_or(asked.grid),
            .shared_bytes = std::max(asked.shared_bytes, own_shared_end_),
            .is_serial = id_ != detector::LaunchId{}};
  }

 private:
  friend class LaunchTracker;

  std::optional<LaunchArguments> arguments_;
  wire::HiddenArgument hidden_;
  RewrittenLaunches::Begun rewritten_;
  std::shared_ptr<const KernelBinding> kernel_;
  detector::LaunchId opened_{};  // in the books; 0: not checked
  detector::LaunchId id_{};      // the same, once everybody knows of it
  LaunchCheck check_;
  std::uint32_t own_shared_end_ = 0;  // of what its blocks keep behind the program's; 0: nothing
  Handle stream_{};
  Mark begin_{};  // for the watch
  Mark timed_{};  // for the timer
  Form form_ = Form::kLogging;
  std::vector<std::byte> packed_;  // arguments, until it has its place in the order
  RepeatedLaunches::Key key_;      // where it may be repeated
  bool is_repeated_ = false;
  bool captured_ = false;  // becomes a graph's node: nothing runs now
  bool is_counted_ = false;
};

class LaunchTracker {
 public:
  LaunchTracker(LaunchFilter& filter, DeviceDriver& driver, detector::Pipeline& pipeline,
                ModuleRegistry& modules, StreamTracker& streams, RunBooks& books,
                LaunchesInFlight& in_flight, CopyTracker& copies);

  // Before the first launch: what launches run was rewritten.
  void rewrite(std::unique_ptr<RewrittenLaunches> rewritten);

  // Before the driver's launch call.
  void begin(Launch& launch, const LaunchRequest& request);
  // Instead, when nothing may be logged any more.
  void begin_unlogged(Launch& launch, Handle function);
  // After a begin() that has failed: what it has begun is over, and the launch runs unlogged.
  void abandon(Launch& launch, Handle function);
  // After it, with its answer.
  void submitted(Launch& launch, DriverStatus status);

  // From now on, the handler is called for a launch that runs for longer.
  void watch(std::chrono::milliseconds timeout, LaunchWatch::Callback too_long);

  // From now on, what launches take is measured.
  void time(std::unique_ptr<KernelTimer> timer) { timer_ = std::move(timer); }

  // Around a graph's launch; launches of their own are watched by themselves.
  Mark watch_begin(Handle stream);
  void watch_end(Mark begin, Handle stream, WatchedLaunch launch);

  // After LaunchesInFlight::drain(): the context is about to go, and its memory with it.
  void close_context(Handle context);
  // Launches from now on run unchecked, for this reason.
  void close(const std::string& reason);

  // The launch that this thread is submitting; 0 outside.
  [[nodiscard]] static detector::LaunchId current();

 private:
  // Packs its arguments, and finds out whether it does what one did that was checked.
  void look_for_like(Launch& launch, const LaunchRequest& request);
  // The descriptor that it logs with; null: it is not checked.
  const wire::LaunchDescriptor* begin_logged(Launch& launch, const LaunchRequest& request,
                                             detector::StreamKey stream);
  // The lock of those in flight is held.
  void leave_out_accesses(Launch& launch, const LaunchRequest& request, detector::StreamKey stream,
                          const LaunchesInFlight::InFlight& taken, bool may_begin_early);
  // Whether it may do something that others see before the kernel before it is over: a programmatic
  // launch behind one that lets others begin, unless it waits for it first. The next kernel of its
  // stream: asked once.
  bool may_begin_early(const LaunchRequest& request, const ptx::Kernel& kernel,
                       detector::StreamKey stream);
  // Puts the launch into its stream.
  void order(detector::LaunchInfo& info, detector::StreamKey stream, bool may_begin_early);
  // Counts a launch that the driver is about to be given.
  void count(Launch& launch);

  LaunchFilter& filter_;  // of instrumented kernels; with the lock of those in flight
  DeviceDriver& driver_;
  detector::Pipeline& pipeline_;
  ModuleRegistry& modules_;
  StreamTracker& streams_;
  RunBooks& books_;
  LaunchesInFlight& in_flight_;
  CopyTracker& copies_;
  RepeatedLaunches repeated_;
  std::unique_ptr<RewrittenLaunches> rewritten_;  // null: nothing is rewritten
  std::unique_ptr<LaunchWatch> watch_;            // null: the option is not set
  std::unique_ptr<KernelTimer> timer_;            // the same
};

}  // namespace barracuda::session
