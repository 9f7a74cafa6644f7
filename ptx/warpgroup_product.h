// What a wgmma.mma_async says in its text: shape, where A comes from, which way its matrices lie.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/matrix_descriptor.h"
#include "ptx/module.h"

namespace barracuda::ptx {

struct WarpgroupProduct {
  wire::ProductShape shape;
  std::uint32_t depth = 0;     // K, in elements; of a sparse A those that it leaves out as well
  std::uint32_t selector = 0;  // of the lanes whose metadata count
  bool negates_a = false, negates_b = false;
};

// Its operands: d, a (registers or a descriptor), b (a descriptor), of a sparse one its metadata
// and a selector, scale-d, and immediates, which ones depends on the types.
inline constexpr std::size_t kProductSums = 0, kProductA = 1, kProductB = 2, kProductMetadata = 3;

constexpr std::size_t product_scale(bool is_sparse) {
  return is_sparse ? 5 : 3;
}

// Nothing for forms that are not known.
std::optional<WarpgroupProduct> read_warpgroup_product(const Instruction& instruction);

}  // namespace barracuda::ptx
