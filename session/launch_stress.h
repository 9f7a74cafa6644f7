// Memory stress beside the program's own blocks (options stress, shuffle): which order of blocks
// and warps a launch gets, and how many extra blocks that disturb memory. A race-free program
// computes the same. Not thread-safe: its owner serialises.
#pragma once

#include <cstddef>
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
  // Starts stress beside a launch that has no blocks for it, if the options ask for that; 0: there
  // is none. Just before the driver's call.
  std::uint32_t begin_beside(const Request& request, const std::optional<Placed>& placed);
  // After it: ends the stress once the work of the launch's stream is over.
  void end_beside(std::uint32_t number, Handle stream);
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
  DevicePointer scratch();

  const Options& options_;
  DeviceDriver& driver_;
  Problems& problems_;
  stress::StressShape shape_;
  std::map<Handle, DevicePointer> scratch_;  // by context
  std::uint64_t draws_ = 0;
  std::byte* stop_ = nullptr;  // the word that ends stress beside launches; lives with the process
  std::uint32_t beside_ = 0;   // how often it was started
};

}  // namespace barracuda::session
