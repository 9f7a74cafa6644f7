#include "emulator/decode/constant_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/align.h"
#include "base/assert.h"

namespace barracuda::emulator {
namespace {

constexpr std::uint32_t kSlotAlignment = 64;

}  // namespace

Slot ConstantPool::add(std::uint64_t bits, RegisterClass register_class) {
  bits = register_class == RegisterClass::kDoubleWord  ? bits
         : register_class == RegisterClass::kPredicate ? (bits != 0 ? kFullMask : 0)
                                                       : bits & 0xffffffffU;
  auto& known = slots_[static_cast<std::size_t>(register_class)];
  if (const auto found = known.find(bits); found != known.end()) {
    return found->second;
  }
  const Slot slot = append(bits, register_class);
  known.emplace(bits, slot);
  return slot;
}

Slot ConstantPool::add_dynamic_offset(std::uint64_t offset) {
  const Slot slot = append(offset, RegisterClass::kDoubleWord);
  dynamic_.emplace_back(slot & ~kConstantSlot, 8);
  return slot;
}

Slot ConstantPool::append(std::uint64_t bits, RegisterClass register_class) {
  const std::size_t offset = bytes_.size();
  const std::size_t lane_bytes = register_class == RegisterClass::kDoubleWord ? 8 : 4;
  const std::size_t lanes = register_class == RegisterClass::kPredicate ? 1 : kLanes;
  bytes_.resize(offset + align_up(lane_bytes * lanes, kSlotAlignment));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::memcpy(bytes_.data() + offset + lane * lane_bytes, &bits, lane_bytes);
  }
  ASSERT(offset < kConstantSlot && offset % kSlotAlignment == 0);
  return static_cast<Slot>(offset) | kConstantSlot;
}

void ConstantPool::finish(ProgramBuilder& builder, Function& function) const {
  const std::size_t bytes = align_up(bytes_.size(), 64) + 64;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
  ASSERT(memory != nullptr);
  std::memset(memory, 0, bytes);
  std::ranges::copy(bytes_, memory);
  function.constants.reset(memory);
  for (const auto& [offset, lane_bytes] : dynamic_) {
    builder.add_dynamic_offset(function, offset, lane_bytes, 16);
  }
}

}  // namespace barracuda::emulator
