// Launches of rewritten code: their stores are delayed, or they are stressed; on a GPU, or with
// delay-levels=rewrite. Gives each a descriptor, and an arena for its threads' buffers that no
// other launch uses at the same time. Not thread-safe: its owner serialises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/expected.h"
#include "base/options.h"
#include "device_logger/launch_descriptor.h"
#include "device_logger/stressed_launch.h"
#include "host_detector/launch.h"
#include "host_detector/stream_order.h"
#include "session/device_driver.h"
#include "session/kernel_filter.h"
#include "session/launch_stress.h"
#include "session/problems.h"

namespace barracuda::session {

// Whether stores are delayed by rewriting the program. Nothing is logged then.
bool rewrites_stores(const Options& options, bool is_emulated);

// Or whether it is rewritten for stress, or so that its own instructions are counted
// or timed.
bool rewrites_program(const Options& options, bool is_emulated);

class StoreDelayer {
 public:
  // Errors: an option that cannot be read.
  static Expected<std::unique_ptr<StoreDelayer>> create(const Options& options,
                                                        DeviceDriver& driver, Problems& problems);

  // Of a launch into this stream that begins when all before it there is over; null if nothing
  // happens to it. Its context is current. `stressed`: with the grid that is launched.
  const wire::LaunchDescriptor* begin(const std::string& kernel, const detector::Dim3& grid,
                                      const detector::Dim3& block, detector::StreamKey stream,
                                      const wire::StressedLaunch* stressed = nullptr);
  // The driver was called.
  void submitted(const wire::LaunchDescriptor* descriptor, Handle stream);
  // The context, current still, is about to go; nothing runs in it.
  void close(Handle context);

 private:
  struct Arena {
    DevicePointer memory{};
    std::uint64_t bytes = 0;
  };

  struct Descriptor {
    wire::LaunchDescriptor launch;  // first: the device has its address
    wire::StressedLaunch stressed;
  };

  struct InFlight {
    Descriptor* descriptor = nullptr;
    Mark over{};  // none: it is never known to be over
  };

  struct Area {  // of a context
    boost::unordered_flat_map<detector::StreamKey, Arena> arenas;
    std::uint64_t bytes = 0;  // of them and of those that were outgrown
    std::vector<Arena> outgrown;
    std::vector<std::byte*> chunks;
    std::vector<Descriptor*> free;
    std::deque<InFlight> in_flight;
  };

  StoreDelayer(DeviceDriver& driver, Problems& problems) : driver_(driver), problems_(problems) {}

  Descriptor* descriptor(Area& area);
  // An arena of 0 if nothing is delayed.
  wire::StoreDelays delays_of(Area& area, const std::string& kernel, const detector::Dim3& grid,
                              const detector::Dim3& block, detector::StreamKey stream);
  // At least one block's buffers, if memory can be had: of `wanted` bytes what there is.
  const Arena& arena(Area& area, detector::StreamKey stream, std::uint64_t wanted);

  DeviceDriver& driver_;
  Problems& problems_;
  KernelFilter filter_;
  wire::StoreDelays delays_;  // but for what a launch has of its own
  std::map<Handle, Area> areas_;
  std::uint64_t launches_ = 0;
};

}  // namespace barracuda::session
