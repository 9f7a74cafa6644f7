// The emulated device's end of a queue, as device_logger/write_record.h wants it: what
// logger_queue.cuh is on a GPU. A claim that finds the queue full claims nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/launch_descriptor.h"
#include "device_logger/write_record.h"
#include "emulator/native_function.h"

namespace barracuda::session {

// The launch's; null where none is logged.
[[nodiscard]] const wire::LaunchDescriptor* descriptor_of(const emulator::NativeCall& call);

// What the block's hooks share.
[[nodiscard]] wire::BlockWords block_words(const emulator::NativeCall& call);
[[nodiscard]] std::byte* block_memory(wire::BlockPlace place, const emulator::NativeCall& call);

class NativeQueue {
 public:
  static constexpr bool kMayRefuse = true;

  NativeQueue(const wire::LaunchDescriptor& descriptor, const emulator::NativeCall& call);

  [[nodiscard]] const NativeQueue& open() const { return *this; }

  [[nodiscard]] bool fence_and_flag() const {
    return descriptor_.commit_mode == wire::CommitMode::kFenceAndFlag;
  }

  [[nodiscard]] std::uint32_t launch() const { return descriptor_.launch; }

  // Whether accesses of a site are logged no more.
  [[nodiscard]] bool is_quiet(std::uint32_t site) const;

  [[nodiscard]] std::uint32_t warp() const { return call_.warp; }

  // The number by which the program knows a CTA.
  [[nodiscard]] std::uint32_t program_cta_of(std::uint32_t cta) const;
  [[nodiscard]] std::uint32_t program_cta() const;

  // The first of `slots` slots, or wire::kNoSlot.
  [[nodiscard]] std::uint64_t claim(std::uint32_t slots) const;
  // Of what the word of the block says itself (block_events.h).
  [[nodiscard]] std::uint64_t claim_untold(std::uint32_t slots) const;

  // By a release and by an acquire of global memory (order_number.h).
  [[nodiscard]] std::uint32_t take_order_number(std::uint64_t address) const;
  [[nodiscard]] std::uint32_t order_number(std::uint64_t address) const;

  // The first word is the tag with `high16` above it.
  void write_half(std::uint64_t slot, std::uint32_t half, std::uint32_t high16,
                  std::uint32_t second, std::uint32_t third, std::uint32_t fourth) const;

  // Every half is visible before those written after it.
  static void order_commit() {}

 private:
  [[nodiscard]] bool is_free(std::uint64_t end) const;
  void tell_block() const;

  const wire::LaunchDescriptor& descriptor_;
  const emulator::NativeCall& call_;
  std::uint64_t ring_ = 0, head_ = 0, read_position_ = 0;
};

// For the events that a block counts.
class NativeEventQueue : public NativeQueue {
 public:
  explicit NativeEventQueue(const NativeQueue& queue) : NativeQueue(queue) {}

  [[nodiscard]] std::uint64_t claim(std::uint32_t slots) const { return claim_untold(slots); }
};

}  // namespace barracuda::session
