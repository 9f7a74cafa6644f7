// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
#pragma once

#include <array>
#include <cstdint>

#include "base/tensor_map.h"
#include "emulator/execute/asynchronous.h"

namespace barracuda::emulator {

// Instruction::extra of a copy; the instructions are only addresses, as in CopyOperands.
struct TensorOperands {
  Instruction map, shared, mbarrier;
  std::array<Slot, kMaxTensorRank> coordinates{};
  std::uint32_t rank = 0;  // of them
  std::array<Slot, kMaxPixelDimensions> offsets{};
  std::uint32_t offset_count = 0;
  Slot ctas = kNoSlot;  // of a multicast: the mask of ranks
  bool is_im2col = false;
  bool reduces = false;
  std::array<Reduction, kTensorElementCount> reductions{};  // null: none of elements of that type
};

// From global to shared memory; signals an mbarrier.
Step execute_tensor_load(Context& c, const Instruction& in, std::uint32_t mask);
// From shared to global memory; belongs to a bulk group.
Step execute_tensor_store(Context& c, const Instruction& in, std::uint32_t mask);

}  // namespace barracuda::emulator
