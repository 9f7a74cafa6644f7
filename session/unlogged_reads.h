// Which memory a launch does not write, so that its plain reads of it need not be logged, and
// whether anything that is put beside such a launch afterwards may write it
// (docs/decisions/device-filter.md). What would then be missing is told as a problem, and from then
// on everything is logged. Not thread-safe: its owner serialises.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "device_logger/unwritten_memory.h"
#include "host_detector/copy.h"
#include "host_detector/launch.h"
#include "ptx/instrument.h"
#include "session/allocation_table.h"
#include "session/device_driver.h"
#include "session/problems.h"
#include "session/stream_tracker.h"

namespace barracuda::session {

class UnloggedReads {
 public:
  // " (its kernel)" of a launch.
  using Describe = std::function<std::string(detector::LaunchId)>;

  UnloggedReads(const Options& options, const AllocationTable& allocations, StreamTracker& streams,
                Problems& problems, Describe describe);

  [[nodiscard]] bool is_on() const { return is_wanted_ && !is_given_up_; }

  // One that has its place in the order.
  struct BegunLaunch {
    detector::LaunchId id{};
    detector::StreamKey stream{};
    const ptx::Kernel& kernel;
    std::vector<std::byte> arguments;  // packed; empty: not known
    bool is_programmatic = false;
  };

  // Holds the launch against those before it, and gives what of its own reads stays unlogged.
  wire::UnwrittenMemory begin(const BegunLaunch& launch);
  // One of a graph: logged as a whole.
  void begin(detector::LaunchId id);
  void begin(const detector::CopyInfo& copy);
  // It is over. `unwritten`: what begin() gave, with what the device made of it.
  void end(detector::LaunchId id, const wire::UnwrittenMemory& unwritten);

 private:
  using Ranges = std::vector<MemoryRange>;

  // The reads of launches that come one after the other, of which this is the newest.
  struct Unlogged {
    detector::LaunchId id{};
    Ranges ranges;
  };

  // The allocations that the launch may write, nothing if they are not known.
  // The allocations that a launch may write, and those of them that decide which reads it logs.
  struct Written {
    Ranges maybe, likely;
  };

  [[nodiscard]] std::optional<Written> written_by(const BegunLaunch& launch) const;
  [[nodiscard]] Ranges read_only(const BegunLaunch& launch, const Ranges& written) const;
  void hold_against(detector::WorkId work, const std::optional<Ranges>& written);
  void end_life(const MemoryRange& range, detector::WorkId free);
  void keep(detector::LaunchId id, Ranges ranges);
  void give_up(const std::string& reason);

  const bool is_wanted_;
  const bool foresees_;  // filter=auto
  const AllocationTable& allocations_;
  StreamTracker& streams_;
  Problems& problems_;
  const Describe describe_;
  bool is_given_up_ = false;
  std::vector<Unlogged> unlogged_;
};

}  // namespace barracuda::session
