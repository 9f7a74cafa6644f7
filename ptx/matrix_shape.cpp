#include "ptx/matrix_shape.h"

namespace barracuda::ptx {

std::optional<MatrixShape> matrix_shape(const Instruction& instruction) {
  static constexpr auto kShapes = std::to_array<MatrixShape>({
      {},
#define MODIFIER(name, text) {},
#define SHAPE(name, text, m, n, k) {m, n, k},
#include "ptx/modifiers.def"
  });
  for (const Modifier modifier : instruction.modifiers) {
    if (const MatrixShape shape = kShapes[static_cast<std::size_t>(modifier)]; shape.m != 0) {
      return shape;
    }
  }
  return std::nullopt;
}

}  // namespace barracuda::ptx
