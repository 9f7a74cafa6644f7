// The device's end of a queue (device_logger/logger_queue.cuh) as host code. A claim that finds the
// queue full claims nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/launch_descriptor.h"
#include "emulator/native_function.h"

namespace barracuda::session {

class NativeQueue {
 public:
  NativeQueue(const wire::LaunchDescriptor& descriptor, const emulator::NativeCall& call);

  [[nodiscard]] bool fence_and_flag() const {
    return descriptor_.commit_mode == wire::CommitMode::kFenceAndFlag;
  }

  // The first of `slots` slots.
  [[nodiscard]] std::optional<std::uint64_t> claim(std::uint32_t slots) const;

  // By a release and by an acquire of global memory (order_number.h).
  [[nodiscard]] std::uint32_t take_order_number(std::uint64_t address) const;
  [[nodiscard]] std::uint32_t order_number(std::uint64_t address) const;

  struct Words {
    std::uint32_t high16 = 0;  // above the tag
    std::uint32_t second = 0, third = 0, fourth = 0;
  };

  void write_half(std::uint64_t slot, std::uint32_t half, const Words& words) const;
  // `words` with a 64-bit value in the middle.
  void write_value(std::uint64_t slot, std::uint32_t half, std::uint64_t value,
                   std::uint32_t high16 = 0, std::uint32_t fourth = 0) const;

  struct Header {
    std::uint32_t site = 0;
    wire::RecordKind kind = wire::RecordKind::kVoid;
    std::uint32_t width_log2 = 0;
    std::uint32_t mask = 0;
  };

  void write_header(std::uint64_t slot, const Header& header) const;

  struct Pattern {
    std::uint32_t stride0 = 0;
    std::uint64_t base = 0;
    std::uint32_t flags = 0;
    std::uint32_t stride1 = 0;
  };

  void write_pattern(std::uint64_t slot, const Pattern& pattern) const;

 private:
  [[nodiscard]] bool is_free(std::uint64_t end) const;

  const wire::LaunchDescriptor& descriptor_;
  const emulator::NativeCall& call_;
  std::uint64_t ring_ = 0, head_ = 0, read_position_ = 0;
};

}  // namespace barracuda::session
