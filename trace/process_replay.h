// The events of one process, given to a detector one by one. What makes no sense ends the replay of
// this process, with a reason: a detector trusts the session that feeds it, and a file is not one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host_detector/replayer.h"
#include "report/run_data.h"
#include "trace/event.h"

namespace barracuda::trace {

class ProcessReplay {
 public:
  explicit ProcessReplay(const detector::DetectorOptions& options) : replayer_(options) {}

  // False: nothing more of this process can be replayed.
  bool take(const Event& event);

  [[nodiscard]] const std::optional<StreamBegin>& begin() const { return begin_; }

  // Its last event was taken.
  [[nodiscard]] bool is_over() const { return end_.has_value(); }

  // Why it stopped before; empty if it did not.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  [[nodiscard]] report::RunData run_data();

 private:
  struct Launch {
    LaunchDescribed described;
    bool has_begun = false;
    bool may_have_records = false;
  };

  bool on(const StreamBegin& event);
  bool on(const DeviceNamed& event);
  bool on(const SiteDescribed& event);
  bool on(const SitesAdded& event);
  bool on(const KernelNamed& event);
  bool on(const LaunchDescribed& event);
  bool on(const LaunchBegun& event);
  bool on(const RecordApplied& event);
  bool on(const LaunchEnded& event);
  bool on(const MemoryForgotten& event);
  bool on(const PlaceNamed& event);
  bool on(const AllocationKnown& event);
  bool on(const KernelCounted& event);
  bool on(const InstructionNotCovered& event);
  bool on(const RegisterHazardFound& event);
  bool on(const MemoryErrorFound& event);
  bool on(const RunEnd& event);
  bool on(const RecordingFailed& event);
  bool on(const ProgramEnded& event);
  bool on(const CopyDescribed& event);
  bool on(const CopyBegun& event);
  bool on(const TensorMapKnown& event);
  bool on(const CopyPlaceNamed& event);

  bool refuse(const std::string& reason);
  [[nodiscard]] Launch* find(detector::LaunchId id);
  void add_named_launches();
  void add_named_copies();
  void describe_unfinished_run();

  detector::Replayer replayer_;
  report::RunData run_;
  std::optional<StreamBegin> begin_;
  std::optional<RunEnd> end_;
  std::string problem_;
  std::size_t sites_added_ = 0;
  std::vector<std::string> kernels_;
  std::vector<Launch> launches_;                                           // of launch i + 1
  std::vector<CopyDescribed> copies_;                                      // by call
  std::map<std::uint32_t, ptx::SourceFrame> copy_places_;                  // by stack
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> places_;  // by stack and kernel
};

}  // namespace barracuda::trace
