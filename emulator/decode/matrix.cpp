// mma, wmma, ldmatrix, stmatrix, movmatrix.

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "emulator/decode/matrix_elements.h"
#include "ptx/matrix_shape.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using ptx::ScalarType;

namespace {

std::optional<MatrixElement> element_of(Modifier modifier) {
  static const boost::unordered_flat_map<Modifier, MatrixElement> elements = {
      {Modifier::kF16, MatrixElement::kF16},   {Modifier::kBf16, MatrixElement::kBf16},
      {Modifier::kTf32, MatrixElement::kTf32}, {Modifier::kF32, MatrixElement::kF32},
      {Modifier::kF64, MatrixElement::kF64},   {Modifier::kE4m3, MatrixElement::kE4m3},
      {Modifier::kE5m2, MatrixElement::kE5m2}, {Modifier::kS8, MatrixElement::kS8},
      {Modifier::kU8, MatrixElement::kU8},     {Modifier::kS4, MatrixElement::kS4},
      {Modifier::kU4, MatrixElement::kU4},     {Modifier::kS32, MatrixElement::kS32}};
  const auto found = elements.find(modifier);
  return found == elements.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::vector<MatrixElement> elements_in(const ptx::Instruction& instruction) {
  std::vector<MatrixElement> elements;
  for (const Modifier modifier : instruction.modifiers) {
    if (const auto element = element_of(modifier)) {
      elements.push_back(*element);
    }
  }
  return elements;
}

namespace {

using Shape = ptx::MatrixShape;

Shape shape_of(const ptx::Instruction& instruction) {
  return ptx::matrix_shape(instruction).value_or(Shape{});
}

ScalarType register_type(MatrixElement element) {
  return element == MatrixElement::kF64 ? ScalarType::kB64 : ScalarType::kB32;
}

bool is_accumulator(MatrixElement element) {
  return element == MatrixElement::kF16 || element == MatrixElement::kF32 ||
         element == MatrixElement::kF64 || element == MatrixElement::kS32;
}

// How many registers of a lane the elements fill.
std::size_t registers_of(MatrixElement element, std::uint32_t rows, std::uint32_t columns) {
  const std::uint32_t width = element == MatrixElement::kF64 ? 64 : 32;
  return std::size_t{rows} * columns * element_bits(element) / width / kLanes;
}

bool is_known_product(const Shape& shape, const std::vector<MatrixElement>& elements) {
  return elements.size() == 4 && is_accumulator(elements[0]) && is_accumulator(elements[3]) &&
         element_bits(elements[1]) == element_bits(elements[2]) && shape.m % 8 == 0 &&
         shape.n % 8 == 0 && shape.m <= 32 && shape.n <= 32 && shape.k <= 64 && shape.m != 0 &&
         shape.n != 0 && shape.k != 0 && shape.m * shape.k % kLanes == 0 &&
         shape.n * shape.k % kLanes == 0 && shape.m * shape.k <= 1024 && shape.n * shape.k <= 1024;
}

}  // namespace

bool bind_registers(CodeEmitter& code, const ptx::Operand& operand, ScalarType type, bool writes,
                    std::vector<Slot>& slots) {
  const std::vector<ptx::Operand> elements = code.elements_of(operand);
  for (const ptx::Operand& element : elements) {
    Slot slot = writes ? code.destination(element, type) : code.source(element, type);
    if (slot == kNoSlot && code.refusal().empty()) {
      slot = code.temporary(register_class(type));
    }
    slots.push_back(slot);
  }
  return code.refusal().empty();
}

namespace {

using Size = std::array<std::uint32_t, 2>;

// d, a, b, c of a product.
struct Product {
  std::array<Size, 4> sizes{};
  std::array<std::vector<Slot>, 4> slots;
};

// False, and the instruction is refused, if their registers are others than those of the elements.
bool bind_product(CodeEmitter& code, const ptx::Instruction& instruction, const Shape& shape,
                  const std::vector<MatrixElement>& elements, Product& product) {
  product.sizes = {Size{shape.m, shape.n}, Size{shape.m, shape.k}, Size{shape.k, shape.n},
                   Size{shape.m, shape.n}};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!bind_registers(code, instruction.operands[i], register_type(elements[i]), i == 0,
                        product.slots.at(i))) {
      return false;
    }
  }
  // Fragments of wmma may have registers that hold nothing.
  const bool has_more = instruction.opcode == Opcode::kWmma;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& [rows, columns] = product.sizes.at(i);
    const std::size_t wanted = registers_of(elements[i], rows, columns);
    const std::size_t bound = product.slots.at(i).size();
    if (bound < wanted || (bound > wanted && !has_more)) {
      code.refuse("the number of registers");
      return false;
    }
  }
  return true;
}

}  // namespace

// mma.sync.aligned.SHAPE.row.col[.satfinite].D.A.B.C d, a, b, c
void decode_mma(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Shape shape = shape_of(instruction);
  const auto elements = elements_in(instruction);
  const bool volta = shape.m == 8 && shape.n == 8 && shape.k == 4 && elements.size() == 4 &&
                     elements[1] == MatrixElement::kF16;
  const bool plain = instruction.has(Modifier::kRow) && instruction.has(Modifier::kCol) &&
                     !instruction.has(Modifier::kSp) && !instruction.has(Modifier::kBlockScale) &&
                     !instruction.has(Modifier::kAnd) && !instruction.has(Modifier::kXor);
  if (!plain || volta || instruction.operands.size() != 4 || !is_known_product(shape, elements) ||
      shape.n != 8 || shape.m > 16) {
    code.refuse("this matrix product");
    return;
  }
  Product bound;
  if (!bind_product(code, instruction, shape, elements, bound)) {
    return;
  }
  const auto& [d, a, b, c] = bound.slots;
  auto product = std::make_shared<MatrixProduct>();
  product->a = mma_fragment(MatrixRole::kA, elements[1], bound.sizes[1], a);
  product->b = mma_fragment(MatrixRole::kB, elements[2], bound.sizes[2], b);
  product->c = mma_fragment(MatrixRole::kAccumulator, elements[3], bound.sizes[3], c);
  product->d = mma_fragment(MatrixRole::kAccumulator, elements[0], bound.sizes[0], d);
  product->saturates = instruction.has(Modifier::kSatfinite);
  if (!product->a.is_valid() || !product->b.is_valid() || !product->c.is_valid() ||
      !product->d.is_valid()) {
    code.refuse("this matrix product");  // no compiler makes it
    return;
  }
  code.emit(&execute_mma, std::move(product));
}

namespace {

// wmma.load.{a,b,c}… registers, [address][, stride]; wmma.store.d… [address], registers[, stride]
void decode_matrix_access(CodeEmitter& code, const ptx::Instruction& instruction) {
  const bool loads = instruction.has(Modifier::kLoad);
  const auto& operands = instruction.operands;
  const Shape shape = shape_of(instruction);
  const auto elements = elements_in(instruction);
  if (elements.size() != 1 || operands.size() < 2 || shape.m == 0 ||
      element_bits(elements[0]) < 8) {
    code.refuse("this matrix access");
    return;
  }
  const std::array<std::uint32_t, 2> size =
      instruction.has(Modifier::kA)   ? std::array{shape.m, shape.k}
      : instruction.has(Modifier::kB) ? std::array{shape.k, shape.n}
                                      : std::array{shape.m, shape.n};
  Instruction place;
  std::vector<Slot> slots;
  if (!bind_place(code, operands[loads ? 1 : 0], ptx::classify(instruction).space, place) ||
      !bind_registers(code, operands[loads ? 0 : 1], register_type(elements[0]), loads, slots)) {
    return;
  }
  if (size[0] * size[1] > 1024 || size[0] * size[1] < kLanes ||
      slots.size() < registers_of(elements[0], size[0], size[1])) {
    code.refuse("the number of registers");
    return;
  }
  const Slot stride = operands.size() > 2 ? code.source(operands[2], ScalarType::kU32) : kNoSlot;
  auto access = std::make_shared<MatrixAccess>();
  access->fragment = wmma_fragment(elements[0], size, std::move(slots));
  access->by_columns = instruction.has(Modifier::kCol);
  place.handler = loads ? &execute_matrix_load : &execute_matrix_store;
  place.b = stride;
  code.emit(place, std::move(access));
}

}  // namespace

// wmma.mma.sync.aligned.ALAYOUT.BLAYOUT.SHAPE.D[.A.B].C: without types of a and b they are f16.
void decode_wmma(CodeEmitter& code, const ptx::Instruction& instruction) {
  if (instruction.has(Modifier::kLoad) || instruction.has(Modifier::kStore)) {
    decode_matrix_access(code, instruction);
    return;
  }
  const Shape shape = shape_of(instruction);
  auto elements = elements_in(instruction);
  if (elements.size() == 2) {
    elements.insert(elements.begin() + 1, {MatrixElement::kF16, MatrixElement::kF16});
  }
  if (!instruction.has(Modifier::kMma) || instruction.has(Modifier::kXor) ||
      instruction.has(Modifier::kAnd) || instruction.operands.size() != 4 ||
      !is_known_product(shape, elements)) {
    code.refuse("this matrix product");
    return;
  }
  Product bound;
  if (!bind_product(code, instruction, shape, elements, bound)) {
    return;
  }
  const auto& [d, a, b, c] = bound.slots;
  auto product = std::make_shared<MatrixProduct>();
  product->d = wmma_fragment(elements[0], bound.sizes[0], d);
  product->a = wmma_fragment(elements[1], bound.sizes[1], a);
  product->b = wmma_fragment(elements[2], bound.sizes[2], b);
  product->c = wmma_fragment(elements[3], bound.sizes[3], c);
  product->saturates = instruction.has(Modifier::kSatfinite);
  code.emit(&execute_mma, std::move(product));
}

// ldmatrix… registers, [address]; stmatrix… [address], registers
void decode_matrix_rows(CodeEmitter& code, const ptx::Instruction& instruction) {
  const bool loads = instruction.opcode == Opcode::kLdmatrix;
  const auto& operands = instruction.operands;
  if (operands.size() != 2 || !instruction.has(Modifier::kM8n8) ||
      !instruction.has(Modifier::kB16)) {
    code.refuse("this matrix access");
    return;
  }
  auto rows = std::make_shared<MatrixRows>();
  rows->transposed = instruction.has(Modifier::kTrans);
  Instruction place;
  if (!bind_place(code, operands[loads ? 1 : 0], ptx::classify(instruction).space, place) ||
      !bind_registers(code, operands[loads ? 0 : 1], ScalarType::kB32, loads, rows->slots)) {
    return;
  }
  const std::size_t wanted = instruction.has(Modifier::kX4)   ? 4
                             : instruction.has(Modifier::kX2) ? 2
                                                              : 1;
  if (rows->slots.size() != wanted) {
    code.refuse("the number of registers");
    return;
  }
  place.handler = loads ? &execute_load_matrix : &execute_store_matrix;
  code.emit(place, std::move(rows));
}

void decode_move_matrix(CodeEmitter& code, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 2 || !instruction.has(Modifier::kM8n8) ||
      !instruction.has(Modifier::kTrans) || !instruction.has(Modifier::kB16)) {
    code.refuse("this matrix move");
    return;
  }
  const Slot a = code.source(instruction.operands[1], ScalarType::kB32);
  const Slot d = code.destination(instruction.operands[0], ScalarType::kB32);
  Instruction& emitted = code.emit(&execute_move_matrix);
  emitted.a = a;
  emitted.d = d;
}

}  // namespace barracuda::emulator
