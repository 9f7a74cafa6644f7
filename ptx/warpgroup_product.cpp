#include "ptx/warpgroup_product.h"

#include <span>
#include <string_view>

#include "base/number_text.h"

namespace barracuda::ptx {
namespace {

using wire::MatrixMajor;

struct Size {
  std::uint32_t columns = 0, depth = 0;
};

// ".m64n128k16": there are too many for a table of modifiers.
std::optional<Size> read_size(std::string_view mnemonic) {
  constexpr std::string_view kBegin = ".m64n";
  const std::size_t begin = mnemonic.find(kBegin);
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  mnemonic.remove_prefix(begin + kBegin.size());
  const auto columns = take_number<std::uint32_t>(mnemonic);
  if (!columns || !mnemonic.starts_with('k')) {
    return std::nullopt;
  }
  mnemonic.remove_prefix(1);
  const auto depth = take_number<std::uint32_t>(mnemonic);
  return depth ? std::optional(Size{.columns = *columns, .depth = *depth}) : std::nullopt;
}

// Immediates behind scale-d.
struct Immediates {
  std::span<const Operand> rest;
  bool are_known = true;

  std::uint64_t take() {
    if (rest.empty() || rest.front().kind != Operand::Kind::kInteger) {
      are_known = false;
      return 0;
    }
    const std::uint64_t bits = rest.front().bits;
    rest = rest.subspan(1);
    return bits;
  }

  // 1 or -1.
  bool take_sign() {
    const std::uint64_t bits = take();
    const bool is_minus = static_cast<std::uint32_t>(bits) == ~std::uint32_t{0};
    are_known = are_known && (bits == 1 || is_minus);
    return is_minus;
  }

  MatrixMajor take_major() {
    const std::uint64_t bits = take();
    are_known = are_known && bits <= 1;
    return bits == 1 ? MatrixMajor::kRows : MatrixMajor::kDepth;
  }
};

}  // namespace

std::optional<WarpgroupProduct> read_warpgroup_product(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const std::optional<Size> size = read_size(instruction.mnemonic);
  const bool is_sparse =
      instruction.has(Modifier::kSp) || instruction.has(Modifier::kSpOrderedMetadata);
  const std::size_t scale = product_scale(is_sparse);
  if (!size || operands.size() <= scale || operands[kProductSums].kind != Operand::Kind::kVector ||
      operands[kProductB].kind != Operand::Kind::kRegister) {
    return std::nullopt;
  }
  WarpgroupProduct product;
  product.shape.columns = size->columns;
  product.depth = size->depth;
  product.shape.has_registers = operands[kProductA].kind == Operand::Kind::kVector;
  if (!product.shape.has_registers && operands[kProductA].kind != Operand::Kind::kRegister) {
    return std::nullopt;
  }
  product.shape.is_sparse = is_sparse;
  // K tells the size of the elements: 32 bytes of each row in all cases, of A as it is stored.
  const std::uint32_t stored = is_sparse ? size->depth / 2 : size->depth;
  const bool is_half = stored == 16, is_tf32 = stored == 8;
  const bool is_fp8 = instruction.has(Modifier::kE4m3) || instruction.has(Modifier::kE5m2);
  Immediates immediates{.rest = std::span(operands).subspan(scale + 1)};
  if (is_sparse) {
    Immediates selector{.rest = std::span(operands).subspan(scale - 1)};
    product.selector = static_cast<std::uint32_t>(selector.take());
    immediates.are_known = selector.are_known;
  }
  if (is_half || is_tf32 || is_fp8) {
    product.negates_a = immediates.take_sign();
    product.negates_b = immediates.take_sign();
  }
  if (is_half && !product.shape.has_registers) {
    product.shape.a = immediates.take_major();
  }
  if (is_half) {
    product.shape.b = immediates.take_major();
  }
  const bool is_known_depth = is_half || is_tf32 || stored == 32 || (stored == 256 && !is_sparse);
  return is_known_depth && product.shape.is_valid() && immediates.are_known &&
                 immediates.rest.empty()
             ? std::optional(product)
             : std::nullopt;
}

}  // namespace barracuda::ptx
