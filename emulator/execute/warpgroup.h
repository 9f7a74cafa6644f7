// wgmma.mma_async: four warps that follow each other multiply matrices that lie in shared memory.
// Each warp makes its own 16 rows of D when it comes to the instruction, at once: of the others it
// needs nothing but what they have stored, and a program that does not wait before it uses D gets
// what a GPU might give it. A wait lasts until the others have issued the products that it waits
// for, as these belong to all four: who goes on may overwrite the tiles. What this misses: a tile
// that is overwritten before the wait does not show in the numbers; the detector finds it.
#pragma once

#include "emulator/execute/matrix.h"
#include "ptx/warpgroup_product.h"

namespace barracuda::emulator {

// Instruction::extra of execute_warpgroup_product; Instruction::flags is Place::kShared.
struct WarpgroupOperands {
  ptx::WarpgroupProduct product;
  MatrixFragment a, d;  // a: only where it lies in registers; both of 16 rows
  MatrixElement b = MatrixElement::kF16;
  MatrixElement a_element = MatrixElement::kF16;
  Slot a_descriptor = kNoSlot, b_descriptor = kNoSlot;
  Slot adds = kNoSlot;  // a predicate: whether D is added to; none: as `always_adds` says
  bool always_adds = false;
  bool saturates = false;
  Sparsity sparsity;
};

Step execute_warpgroup_product(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_warpgroup_commit(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_warpgroup_wait(Context& c, const Instruction& in, std::uint32_t mask);  // immediate

}  // namespace barracuda::emulator
