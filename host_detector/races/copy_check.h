// Holds copies and memsets against what launches do: against the shadow of the launches that came
// before them, and, through the live copies, against every launch that nothing orders after them.
// Allocations and frees in the order of a stream alike. What is ordered before a free ends with it.
#pragma once

#include "host_detector/copy.h"
#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

class CopyCheck {
 public:
  explicit CopyCheck(EngineState& engine) : engine_(engine) {}

  // All that it is ordered after is over.
  void apply(const CopyInfo& copy);
  // After the launch has its place in the order, and before its first record.
  void begin_launch(LaunchState& launch);
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  // A copy on its way, with what it knows of launches that are not ordered before it.
  struct Comer;

  // The launch was over before the copy.
  [[nodiscard]] bool is_before(const Comer& comer, WorkId launch) const;
  // An access of its was, at this address.
  [[nodiscard]] bool was_before(const Comer& comer, const Cell& cell, std::uint32_t lane,
                                std::uint64_t address) const;
  void drop_old(const CopyInfo& copy);
  void check_against_shadow(const Comer& comer, const MemoryRows& rows);
  void check_against_cell(const Comer& comer, const MemoryRows& rows, std::uint64_t block_start,
                          const Cell& cell, const Bytes& bytes);
  void check_against_copies(const Comer& comer, const MemoryRows& rows);
  // Drops the accesses that the next owner of each byte must not be compared with.
  void forget_past(const Comer& comer, const MemoryRows& range, bool has_others);

  EngineState& engine_;
  CopyId newest_{};  // of those that were applied
};

// A race of what the host does by `operation` with another access, in the order in which the host
// asked for the two: which of them the detector meets first is chance. It is a warning with an
// access that the compiler speculated.
[[nodiscard]] RaceEvent copy_race(HostOperation operation, const RaceAccess& first,
                                  const RaceAccess& second, bool is_speculated = false);
[[nodiscard]] RaceAccess describe_copy(const LiveCopy& copy);

}  // namespace barracuda::detector
