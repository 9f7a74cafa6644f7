// Memory stress beside the program's own blocks (options stress, shuffle): which launch gets which
// order of its blocks and warps, and how many blocks that are none of its own and disturb memory.
// A race-free program computes the same. Not thread-safe: its owner serialises.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/expected.h"
#include "base/options.h"
#include "device_logger/stressed_launch.h"
#include "host_detector/launch.h"
#include "ptx/instrument.h"
#include "session/device_driver.h"
#include "session/problems.h"

namespace barracuda::session {

// Whether the program is rewritten for it. Nothing is logged then. Block numbers alone are shuffled
// in logged code, too (block_schedule.h).
bool is_stressed(const Options& options, bool is_emulated);

// The stress of the options; kNone without any. Errors: a file that cannot be read; the emulated
// device, which has no hardware to stress, unless delay-levels=rewrite asks for the rewritten code.
Expected<stress::StressShape> stress_of(const Options& options, bool is_emulated);

class LaunchStress {
 public:
  struct Request {
    const ptx::Kernel& kernel;
    detector::Dim3 grid, block, cluster;
    bool is_cooperative = false;
  };

  // Where the rewritten launch is placed, and on what grid.
  struct Placed {
    wire::StressedLaunch launch;
    detector::Dim3 grid;
  };

  // Errors: those of stress_of.
  static Expected<std::unique_ptr<LaunchStress>> create(const Options& options,
                                                        DeviceDriver& driver, Problems& problems);

  // Its context is current. Nothing: of a grid that is no grid of whole clusters, or too large.
  std::optional<Placed> place(const Request& request);
  // The context, current still, is about to go; nothing runs in it.
  void close(Handle context);

 private:
  LaunchStress(const Options& options, DeviceDriver& driver, Problems& problems)
      : options_(options), driver_(driver), problems_(problems) {}

  // The next number of the draws.
  std::uint64_t draw();
  void shuffle(const Request& request, wire::StressedLaunch& launch);
  void add_blocks(const Request& request, Placed& placed);
  // 0: there is no memory for it.
  std::uint64_t scratch();

  const Options& options_;
  DeviceDriver& driver_;
  Problems& problems_;
  stress::StressShape shape_;
  std::map<Handle, std::uint64_t> scratch_;  // by context
  std::uint64_t draws_ = 0;
};

}  // namespace barracuda::session
