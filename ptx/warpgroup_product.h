// What a wgmma.mma_async says in its text: shape, where A comes from, which way its matrices lie.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/matrix_descriptor.h"
#include "ptx/module.h"

namespace barracuda::ptx {

struct WarpgroupProduct {
  wire::ProductShape shape;
  std::uint32_t depth = 0;  // K, in elements
  bool negates_a = false, negates_b = false;
};

// Its operands: d, a (registers or a descriptor), b (a descriptor), scale-d, and immediates, which
// ones depends on the types.
inline constexpr std::size_t kProductSums = 0, kProductA = 1, kProductB = 2, kProductScale = 3;

// Nothing for forms that are not known, sparse ones among them.
std::optional<WarpgroupProduct> read_warpgroup_product(const Instruction& instruction);

}  // namespace barracuda::ptx
