// tcgen05: tensor memory, and products of matrices in shared memory whose sums lie there. All is
// done when it is issued; what this misses: a tile that is overwritten before the product was
// waited for does not show in the numbers, nor does tensor memory that is read too early. The
// detector finds the first.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/state/context.h"
#include "ptx/tensor_instruction.h"

namespace barracuda::emulator {

// Instruction::extra of what follows. The instructions are only addresses (a, immediate), of tensor
// memory. Instruction::flags is Place::kShared for a product and a copy.
struct TensorCoreOperands {
  ptx::TensorInstruction instruction;
  Instruction memory;             // D; where to, where from
  Instruction memory_of_a;        // where A lies there
  Slot a = kNoSlot, b = kNoSlot;  // descriptors
  Slot shape = kNoSlot, adds = kNoSlot;
  std::vector<Slot> registers;  // of a load or a store, by column
};

Step execute_tensor_core_product(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_tensor_core_copy(Context& c, const Instruction& in, std::uint32_t mask);
// Each lane of the warp has a row.
Step execute_tensor_core_load(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_tensor_core_store(Context& c, const Instruction& in, std::uint32_t mask);

// Without TensorCoreOperands. A place in shared memory; b how many columns.
Step execute_tensor_core_allocate(Context& c, const Instruction& in, std::uint32_t mask);
// a the address of the columns, b how many.
Step execute_tensor_core_free(Context& c, const Instruction& in, std::uint32_t mask);
// A place of an mbarrier, where each lane arrives.
Step execute_tensor_core_commit(Context& c, const Instruction& in, std::uint32_t mask);

}  // namespace barracuda::emulator
