// The launches of graphs, with those of their nodes that copy or set memory. Thread-safe; begin()
// may wait for detection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_logger/unlogged_memory.h"
#include "host_detector/pipeline.h"
#include "session/copy_tracker.h"
#include "session/launch_filter.h"
#include "session/launches_in_flight.h"
#include "session/module_registry.h"
#include "session/run_books.h"
#include "session/stream_tracker.h"

namespace barracuda::session {

// A node of a graph launch.
struct GraphKernel {
  std::shared_ptr<const KernelBinding> kernel;  // null: not a kernel, or an unknown one
  bool is_kernel = false;
  bool is_checked = false;  // it can be given a descriptor
  bool is_disabled = false;
  LaunchRequest request;                  // without stream, event and constants
  std::vector<std::byte> arguments;       // packed; empty: not known
  std::vector<std::size_t> dependencies;  // earlier nodes
  std::optional<CopyRequest> copy;        // of a node that copies or sets memory
  Handle waits_for{}, records{};          // events, of a node that waits for one or records one
};

// What one kernel node gets for one replay.
struct GraphKernelLaunch {
  detector::LaunchId id{};  // 0: not checked
  wire::HiddenArgument hidden;
  std::uint32_t own_shared_end = 0;  // as of LaunchesInFlight::LeftOut
  bool is_left_out = false;          // by the user's options
};

class GraphLaunches {
 public:
  GraphLaunches(LaunchFilter& filter, DeviceDriver& driver, detector::Pipeline& pipeline,
                StreamTracker& streams, RunBooks& books, LaunchesInFlight& in_flight,
                CopyTracker& copies)
      : filter_(filter),
        driver_(driver),
        pipeline_(pipeline),
        streams_(streams),
        books_(books),
        in_flight_(in_flight),
        copies_(copies) {}

  // Before a replay of this executable graph: nodes stand in an order in which dependencies come
  // first.
  std::vector<GraphKernelLaunch> begin(const std::vector<GraphKernel>& nodes, Handle stream,
                                       std::uint64_t executable);
  // When every node has got what it can get, just before the driver's call; and after it.
  void submitting(const std::vector<GraphKernel>& nodes,
                  const std::vector<GraphKernelLaunch>& launches);
  void submitted(const std::vector<GraphKernel>& nodes,
                 const std::vector<GraphKernelLaunch>& launches, DriverStatus status);
  // A node that could not be given its descriptor runs unlogged.
  void give_up(GraphKernelLaunch& launch);

 private:
  struct Stream {
    Handle handle{};
    detector::StreamKey key{};
  };

  // What one of a chain need not log. `states`: whose memory for states it takes.
  void leave_out(const GraphKernel& node, const LaunchesInFlight::InFlight& taken,
                 const Stream& stream, detector::StreamKey states, GraphKernelLaunch& launch);

  LaunchFilter& filter_;  // with the lock of those in flight
  DeviceDriver& driver_;
  detector::Pipeline& pipeline_;
  StreamTracker& streams_;
  RunBooks& books_;
  LaunchesInFlight& in_flight_;
  CopyTracker& copies_;
};

}  // namespace barracuda::session
