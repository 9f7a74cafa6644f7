// The registers of a function that is being decoded: their numbers, what its steps do to them, and
// the slots that they have. Without a layout their slots are their numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "emulator/decode/frame_layout.h"
#include "emulator/decode/register_uses.h"
#include "emulator/decode/symbols.h"

namespace barracuda::emulator {

class FunctionRegisters {
 public:
  explicit FunctionRegisters(const FrameLayout* layout) : layout_(layout) {}

  [[nodiscard]] RegisterUses& uses() { return uses_; }

  [[nodiscard]] Slot slot_of(std::uint32_t number) const {
    ASSERT(layout_ == nullptr || number < layout_->slots.size());
    return layout_ == nullptr ? number : layout_->slots[number];
  }

  // For this step.
  Slot temporary(RegisterClass register_class) {
    const std::uint32_t number = uses_.add(register_class);
    uses_.write(number, true);
    return slot_of(number);
  }

  // The condition code, which this step reads and writes.
  Slot carry(bool always_written) {
    if (carry_ == kNoRegister) {
      carry_ = uses_.add(RegisterClass::kPredicate);
    }
    uses_.read(carry_);
    uses_.write(carry_, always_written);
    return slot_of(carry_);
  }

  [[nodiscard]] FrameLayout plan(const std::vector<StepEnd>& ends) const {
    return lay_out_frame(uses_.classes(), uses_.stretches(ends), uses_.steps());
  }

  // Of the frame that was laid out for just these registers.
  [[nodiscard]] std::uint32_t frame_bytes() const {
    ASSERT(uses_.classes().size() == layout_->slots.size());
    return layout_->bytes;
  }

 private:
  const FrameLayout* layout_;
  RegisterUses uses_;
  std::uint32_t carry_ = kNoRegister;
};

}  // namespace barracuda::emulator
