// The emulated device's end of device_logger/word_owners.h: what word_owners.cuh is on a GPU.
// Several threads of the host may change states at a time, for several clusters.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/launch_descriptor.h"
#include "device_logger/unlogged_memory.h"
#include "device_logger/word_owners.h"
#include "device_logger/write_record.h"
#include "emulator/native_function.h"
#include "session/native_lanes.h"
#include "session/native_queue.h"
#include "session/native_states.h"

namespace barracuda::session {

class NativeOwners {
 public:
  NativeOwners(const wire::LaunchDescriptor& descriptor, const emulator::NativeCall& call,
               const NativeStates& states)
      : descriptor_(descriptor), call_(call), states_(states) {}

  // As NativeStates has it, of accesses to watched memory, of which `offsets` are theirs.
  [[nodiscard]] std::optional<std::uint32_t> follow(const NativeLanes& lanes, std::uint32_t site,
                                                    const LaneWords& addresses,
                                                    const LaneWords& offsets,
                                                    const LaneWords& intervals,
                                                    const wire::StoredValues<NativeLanes>& values,
                                                    const NativeQueue& queue) const;

 private:
  struct LaneStep {
    std::uint64_t address = 0;
    wire::OwnerAccess access;
    bool is_frozen = false;
    std::uint64_t value = 0;
  };

  [[nodiscard]] std::uint64_t& state_of(std::uint64_t granule) const;
  [[nodiscard]] std::uint64_t& word_of(std::uint64_t granule) const;
  [[nodiscard]] std::optional<bool> take(std::uint64_t granule, const LaneStep& lane,
                                         const NativeQueue& queue) const;
  [[nodiscard]] bool log_kept(wire::WordOwner state, std::uint64_t word, const LaneStep& lane,
                              bool has_same_value, const NativeQueue& queue) const;

  const wire::LaunchDescriptor& descriptor_;
  const emulator::NativeCall& call_;
  const NativeStates& states_;
};

}  // namespace barracuda::session
