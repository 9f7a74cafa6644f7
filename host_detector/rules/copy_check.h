// Holds copies and memsets against what launches do: against the shadow of the launches that came
// before them, and, through the live copies, against every launch that nothing orders after them.
#pragma once

#include "host_detector/copy.h"
#include "host_detector/sync/engine_state.h"

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
  [[nodiscard]] bool is_before(const Comer& comer, LaunchId launch) const;
  void drop_old(const CopyInfo& copy);
  void meet_shadow(const Comer& comer, const MemoryRows& rows);
  void meet_entry(const Comer& comer, const MemoryRows& rows, std::uint64_t block_start,
                  const Entry& entry, const Bytes& bytes);
  void meet_copies(const Comer& comer, const MemoryRows& rows);

  EngineState& engine_;
};

// A race between a copy and what `other` does at `address`, as far as the copy goes.
[[nodiscard]] RaceEvent copy_race(const RaceAccess& copy, const RaceAccess& other);
[[nodiscard]] RaceAccess describe_copy(LaunchId id, std::uint32_t call, const MemoryRows& rows);

}  // namespace barracuda::detector
