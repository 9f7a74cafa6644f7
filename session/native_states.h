// The emulated device's end of device_logger/shared_states.h: what shared_states.cuh is on a GPU.
// The warps of a block take turns, so its states are changed by one thread of the host at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "device_logger/block_events.h"
#include "device_logger/launch_descriptor.h"
#include "device_logger/shared_states.h"
#include "device_logger/write_record.h"
#include "emulator/native_function.h"
#include "session/native_lanes.h"
#include "session/native_queue.h"

namespace barracuda::session {

class NativeStates {
 public:
  NativeStates(const wire::LaunchDescriptor& descriptor, const emulator::NativeCall& call);

  // By each warp of the block, first of all; `dynamic`: where its dynamic shared memory begins.
  // Whether all must meet then, before anything is kept.
  [[nodiscard]] static bool begin(const wire::LaunchDescriptor& descriptor,
                                  const emulator::NativeCall& call, std::uint32_t dynamic);

  [[nodiscard]] bool are_kept() const { return header_ != nullptr; }

  [[nodiscard]] std::uint32_t next(std::uint32_t interval) const;
  // Behind a barrier that all threads of the block come to together, before they go on.
  void forget() const;
  void leave(std::uint32_t lanes, std::uint32_t interval) const;
  // In the interval in which the first did.
  [[nodiscard]] bool has_left(std::uint32_t thread) const;

  // Whether something of the block was logged since its last barrier that was.
  [[nodiscard]] bool is_logged() const;
  // Of all threads of the block, while they wait. False as of gather().
  [[nodiscard]] bool log_barrier(wire::EventRecord event, const NativeQueue& queue) const;
  // The block's end is logged if these are the last of its threads, and it must be. False as of
  // gather().
  [[nodiscard]] bool count_exit(wire::EventRecord event, const NativeQueue& queue) const;
  // Before it is logged what a warp did in an interval of that number: the barriers of the warp
  // that it counts are, unless they were. False as of gather().
  [[nodiscard]] bool tell_warp_barriers(const NativeQueue& queue, std::uint32_t warp,
                                        std::uint32_t number) const;
  [[nodiscard]] bool tell_own_barriers(const NativeQueue& queue, std::uint32_t interval) const;
  // The event is logged, or kept until the whole block has made it. False if the queue has no room:
  // once more, which logs nothing twice.
  [[nodiscard]] bool gather(wire::EventRecord event, const NativeQueue& queue) const;

  // Those of `lanes`, of one site, whose accesses are logged. Nothing if the queue has no room:
  // once more from the beginning, which changes nothing twice.
  [[nodiscard]] std::optional<std::uint32_t> follow(const NativeLanes& lanes, std::uint32_t site,
                                                    const LaneWords& addresses,
                                                    const LaneWords& intervals,
                                                    const wire::StoredValues<NativeLanes>& values,
                                                    const NativeQueue& queue) const;

  // Asynchronous copies of `lanes`, of one site, to shared memory, beside which their threads have
  // committed so many groups. They are logged here, if they have to be. False as of follow(); after
  // the last of an instruction, end_copies().
  [[nodiscard]] bool copy(const NativeLanes& lanes, std::uint32_t site, const LaneWords& addresses,
                          const LaneWords& intervals, const LaneWords& groups,
                          const NativeQueue& queue) const;
  void end_copies() const;
  // The lane has waited for its groups below `over`.
  void wait_for(std::uint32_t lane, std::uint32_t over, std::uint32_t interval) const;

 private:
  struct LaneStep {
    std::uint64_t offset = 0;
    std::uint32_t interval = 0;
    wire::StateAccess access;
    std::uint64_t value = 0;
  };

  [[nodiscard]] std::uint64_t granule() const { return std::uint64_t{1} << states_.granule_log2; }

  template <class Word>
  [[nodiscard]] Word& word_at(std::uint32_t place) const {
    return *reinterpret_cast<Word*>(header_ + place);
  }

  [[nodiscard]] wire::BlockEnd end_block() const;
  [[nodiscard]] std::uint64_t* state_at(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t states() const;  // how many, with the words of threads
  [[nodiscard]] std::uint64_t& progress_of(std::uint32_t thread) const;
  [[nodiscard]] std::uint32_t* mask_of(std::uint32_t warp) const;
  // Whether an access is logged; nothing as of follow().
  [[nodiscard]] std::optional<bool> take_all(LaneStep lane, std::uint32_t bytes,
                                             const NativeQueue& queue) const;
  [[nodiscard]] std::optional<bool> take(std::uint64_t offset, const LaneStep& lane,
                                         const NativeQueue& queue) const;
  // Before it is logged what a lane does: how far it has waited for its copies. False as of
  // follow().
  [[nodiscard]] bool tell_wait(const LaneStep& lane, const NativeQueue& queue) const;
  [[nodiscard]] bool log_kept(wire::WordState state, const wire::StateStep& step,
                              std::uint64_t offset, const LaneStep& lane,
                              const NativeQueue& queue) const;

  const wire::SharedStates& states_;
  std::uint32_t warp_ = 0, threads_ = 0;         // threads of the block
  std::uint64_t blocks_ = 0;                     // of the launch
  std::byte *header_ = nullptr, *at_ = nullptr;  // of the states
};

}  // namespace barracuda::session
