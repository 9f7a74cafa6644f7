#include "emulator/execute/warpgroup.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "emulator/execute/asynchronous.h"
#include "emulator/execute/lanes/lanes.h"
#include "emulator/execute/matrix_tile.h"
#include "emulator/state/cta.h"

namespace barracuda::emulator {

using baseline::predicate;
using baseline::source;

namespace {

constexpr std::uint32_t kMostDepth = 8 * wire::kDepthBytes;  // elements of one bit

// The tile as numbers, row by row of `depth`; each is allocated once for a thread.
struct Numbers {
  double stored[std::size_t{wire::kWarpRows} * wire::kDepthBytes];  // of a sparse A
  double a[std::size_t{wire::kWarpRows} * kMostDepth];
  double b[std::size_t{wire::kMaxColumns} * kMostDepth];
  double sums[std::size_t{wire::kWarpRows} * wire::kMaxColumns];
};

Numbers& numbers() {
  thread_local const auto kept = std::make_unique<Numbers>();
  return *kept;
}

// Sums of products are made in double, which is more than the manual asks for.
void multiply_tiles(std::uint32_t columns, std::uint32_t depth, Numbers& values) {
  for (std::uint32_t row = 0; row < wire::kWarpRows; ++row) {
    const double* const left = values.a + std::size_t{row} * depth;
    double* const sums = values.sums + std::size_t{row} * columns;
    for (std::uint32_t column = 0; column < columns; ++column) {
      const double* const right = values.b + std::size_t{column} * depth;
      double sum = sums[column];
      for (std::uint32_t k = 0; k < depth; ++k) {
        sum += left[k] * right[k];
      }
      sums[column] = sum;
    }
  }
}

bool read_a(Context& c, const Instruction& in, std::uint32_t mask,
            const WarpgroupOperands& operands, double* to) {
  const ptx::WarpgroupProduct& product = operands.product;
  if (product.shape.has_registers) {
    read_fragment(c, operands.a, to);
    if (product.negates_a) {
      std::for_each_n(to, std::size_t{wire::kWarpRows} * operands.a.columns,
                      [](double& number) { number = -number; });
    }
    return true;
  }
  const int lane = std::countr_zero(mask);
  const MatrixTile tile{
      .matrix = wire::read_descriptor(source<std::uint64_t>(c, operands.a_descriptor)[lane]),
      .major = product.shape.a,
      .rows = wire::rows_of_warp(c.warp->index),
      .element = operands.a_element,
      .depth = wire::kDepthBytes * 8 / element_bits(operands.a_element)};
  if (!is_there(c, in, mask, tile)) {
    return false;
  }
  read_tile(c, tile, product.negates_a, to);
  return true;
}

}  // namespace

Step execute_warpgroup_product(Context& c, const Instruction& in, std::uint32_t mask) {
  if (!is_whole_warp(c, mask)) {
    return wait_for_warp(c, in, mask);
  }
  const auto& operands = *static_cast<const WarpgroupOperands*>(in.extra);
  const ptx::WarpgroupProduct& product = operands.product;
  const int lane = std::countr_zero(mask);
  Numbers& values = numbers();
  const MatrixTile b{
      .matrix = wire::read_descriptor(source<std::uint64_t>(c, operands.b_descriptor)[lane]),
      .major = product.shape.b,
      .rows = product.shape.rows_of_b(),
      .element = operands.b,
      .depth = product.depth};
  const bool is_sparse = product.shape.is_sparse;
  if (!is_there(c, in, mask, b) ||
      !read_a(c, in, mask, operands, is_sparse ? values.stored : values.a)) {
    return Step::kSwitch;
  }
  if (is_sparse) {
    expand(c, operands.sparsity, operands.a_element, product.depth, values.stored, values.a);
  }
  read_tile(c, b, product.negates_b, values.b);
  const std::size_t count = std::size_t{wire::kWarpRows} * product.shape.columns;
  const bool adds = operands.adds == kNoSlot ? operands.always_adds
                                             : (predicate(c, operands.adds) >> lane & 1) != 0;
  if (adds) {
    read_fragment(c, operands.d, values.sums);
  } else {
    std::fill_n(values.sums, count, 0.0);
  }
  multiply_tiles(product.shape.columns, product.depth, values);
  if (operands.saturates) {
    saturate(values.sums, count);
  }
  write_fragment(c, operands.d, values.sums);
  return Step::kNext;
}

Step execute_warpgroup_commit(Context& c, const Instruction& in, std::uint32_t mask) {
  if (!is_whole_warp(c, mask)) {
    return wait_for_warp(c, in, mask);
  }
  ++c.warp->product_groups;
  return Step::kNext;
}

// Of a warpgroup that is not whole those are waited for that there are.
Step execute_warpgroup_wait(Context& c, const Instruction& in, std::uint32_t mask) {
  if (!is_whole_warp(c, mask)) {
    return wait_for_warp(c, in, mask);
  }
  const auto is_behind = [&](const std::unique_ptr<Warp>& warp) {
    const bool is_of_group =
        warp->index / wire::kWarpgroupWarps == c.warp->index / wire::kWarpgroupWarps;
    return is_of_group && warp->live != 0 &&
           warp->product_groups + static_cast<std::uint32_t>(in.immediate) < c.warp->product_groups;
  };
  if (std::ranges::any_of(c.cta->warps, is_behind)) {
    note_poll(c, in);
    charge_poll(c);
    c.yields = true;
    --c.pc;
    return Step::kSwitch;
  }
  c.warp->running().polls = 0;
  return Step::kNext;
}

}  // namespace barracuda::emulator
