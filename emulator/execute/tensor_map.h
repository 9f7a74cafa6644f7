// tensormap.replace and tensormap.cp_fenceproxy: maps that the device itself changes.
#pragma once

#include <cstdint>

#include "base/tensor_map.h"
#include "emulator/execute/asynchronous.h"

namespace barracuda::emulator {

enum class MapField : std::uint8_t {
  kAddress,
  kRank,
  kBoxDim,
  kGlobalDim,
  kGlobalStride,
  kElementStride,
  kElement,
  kInterleave,
  kSwizzle,
  kSwizzleAtomicity,
  kFill,
};

// Instruction::extra of a replacement; `map` is only an address.
struct MapChange {
  Instruction map;
  MapField field = MapField::kAddress;
  std::uint32_t dimension = 0;
  Slot value = kNoSlot;
  bool is_wide = false;  // of 64 bits
};

// Called by the thread that executes the kernel, for each map that one has changed.
using TensorMapHandler = void (*)(const void* bytes, const TensorMap& map);
void set_tensor_map_handler(TensorMapHandler handler);  // null: nobody

Step execute_map_change(Context& c, const Instruction& in, std::uint32_t mask);
// Of CopyOperands `to` and `from`.
Step execute_map_copy(Context& c, const Instruction& in, std::uint32_t mask);

}  // namespace barracuda::emulator
