// mma, wmma, ldmatrix, stmatrix, movmatrix.

#include <algorithm>

#include "emulator/decode/addresses.h"
#include "emulator/decode/decoders.h"
#include "emulator/decode/matrix_elements.h"
#include "ptx/matrix_layout.h"
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
      {Modifier::kU4, MatrixElement::kU4},     {Modifier::kS32, MatrixElement::kS32},
      {Modifier::kB1, MatrixElement::kB1},     {Modifier::kE3m2, MatrixElement::kE3m2},
      {Modifier::kE2m3, MatrixElement::kE2m3}, {Modifier::kE2m1, MatrixElement::kE2m1}};
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

// Of whole matrices.
bool is_known_size(std::uint32_t rows, std::uint32_t columns) {
  return rows * columns % kLanes == 0 && rows * columns <= 4096;
}

bool is_known_product(const Shape& shape, const std::vector<MatrixElement>& elements) {
  return elements.size() == 4 && is_accumulator(elements[0]) && is_accumulator(elements[3]) &&
         element_bits(elements[1]) == element_bits(elements[2]) && shape.m % 8 == 0 &&
         shape.n % 8 == 0 && shape.m <= 32 && shape.n <= 32 && shape.k <= 256 && shape.m != 0 &&
         shape.n != 0 && shape.k != 0 && is_known_size(shape.m, shape.k) &&
         is_known_size(shape.n, shape.k);
}

// Of products of single bits.
bool is_known_bit_product(const ptx::Instruction& instruction,
                          const std::vector<MatrixElement>& elements) {
  const bool has_bits = elements[1] == MatrixElement::kB1;
  return (elements[2] == MatrixElement::kB1) == has_bits &&
         instruction.has(Modifier::kPopc) == has_bits &&
         (instruction.has(Modifier::kAnd) || instruction.has(Modifier::kXor)) == has_bits &&
         (!has_bits || elements[0] == MatrixElement::kS32);
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

bool is_sparse(const ptx::Instruction& instruction) {
  return instruction.has(Modifier::kSp) || instruction.has(Modifier::kSpOrderedMetadata);
}

// d, a, b, c of a product.
struct Product {
  std::array<Size, 4> sizes{};
  std::array<std::vector<Slot>, 4> slots;
};

// False, and the instruction is refused, if their registers are others than those of the elements.
bool bind_product(CodeEmitter& code, const ptx::Instruction& instruction, const Shape& shape,
                  const std::vector<MatrixElement>& elements, Product& product) {
  const std::uint32_t stored = is_sparse(instruction) ? shape.k / 2 : shape.k;
  product.sizes = {Size{shape.m, shape.n}, Size{shape.m, stored}, Size{shape.k, shape.n},
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

namespace {

// d, a, b, c; then of a sparse A its metadata and a selector; then scales of A, {byte, thread},
// scales of B, {byte, thread}.
constexpr std::size_t kMatrices = 4, kSparseOperands = 2, kScaleOperands = 4;

bool bind_sparsity(CodeEmitter& code, const ptx::Instruction& instruction, std::uint32_t depth,
                   MatrixElement element, Sparsity& sparsity) {
  const auto& operands = instruction.operands;
  const auto& selector = operands[kMatrices + 1];
  sparsity.metadata = code.source(operands[kMatrices], ScalarType::kB32);
  if (selector.kind != ptx::Operand::Kind::kInteger ||
      !is_known_sparsity(element, depth, static_cast<std::uint32_t>(selector.bits))) {
    code.refuse("metadata of this form");
    return false;
  }
  sparsity.selector = static_cast<std::uint32_t>(selector.bits);
  return code.refusal().empty();
}

// From operand `first` on.
bool bind_scales(CodeEmitter& code, const ptx::Instruction& instruction, std::size_t first,
                 BlockScales& scales) {
  const ptx::Operand& word = instruction.operands[first];
  const std::vector<ptx::Operand> words = code.elements_of(word);
  const std::vector<ptx::Operand> place = code.elements_of(instruction.operands[first + 1]);
  if (words.size() != 1 || place.size() != 2) {
    code.refuse("scales of this form");
    return false;
  }
  scales.words = code.source(words[0], ScalarType::kB32);
  scales.byte = code.source(place[0], ScalarType::kU16);
  scales.thread = code.source(place[1], ScalarType::kU16);
  scales.is_exponent = instruction.has(Modifier::kUe8m0);
  const bool packs = instruction.has(Modifier::kKindMxf4);  // which has two by default
  scales.parts = instruction.has(Modifier::kScaleVec4X)            ? 4
                 : instruction.has(Modifier::kScaleVec2X) || packs ? 2
                                                                   : 1;
  return code.refusal().empty();
}

// All but the matrices themselves. False: the instruction is refused.
bool bind_narrow(CodeEmitter& code, const ptx::Instruction& instruction, const Shape& shape,
                 MatrixElement element, MatrixProduct& product) {
  const bool sparse = is_sparse(instruction), scaled = instruction.has(Modifier::kBlockScale);
  const std::size_t first = kMatrices + (sparse ? kSparseOperands : 0);
  if (instruction.operands.size() != first + (scaled ? kScaleOperands : 0)) {
    code.refuse("operands");
    return false;
  }
  return (!sparse || bind_sparsity(code, instruction, shape.k, element, product.sparsity)) &&
         (!scaled || (bind_scales(code, instruction, first, product.a_scales) &&
                      bind_scales(code, instruction, first + 2, product.b_scales)));
}

bool is_known_mma(const ptx::Instruction& instruction, const Shape& shape,
                  const std::vector<MatrixElement>& elements) {
  const bool narrow = is_sparse(instruction) || instruction.has(Modifier::kBlockScale);
  const bool volta = shape.m == 8 && shape.n == 8 && shape.k == 4 && elements.size() == 4 &&
                     elements[1] == MatrixElement::kF16;
  return instruction.has(Modifier::kRow) && instruction.has(Modifier::kCol) && !volta &&
         is_known_product(shape, elements) && shape.n == 8 && shape.m <= 16 &&
         is_known_bit_product(instruction, elements) && (!narrow || shape.m == 16);
}

// Of these kinds two e2m1 make a byte.
void pack_elements(const ptx::Instruction& instruction, std::vector<MatrixElement>& elements) {
  if (instruction.has(Modifier::kKindMxf4) || instruction.has(Modifier::kKindMxf4nvf4)) {
    std::ranges::replace(elements, MatrixElement::kE2m1, MatrixElement::kPackedE2m1);
  }
}

}  // namespace

// mma[.sp].sync.aligned.SHAPE.row.col[.kind][.block_scale…][.satfinite].D.A.B.C[.scales] d, a, b,
// c…
void decode_mma(CodeEmitter& code, const ptx::Instruction& instruction) {
  const Shape shape = shape_of(instruction);
  auto elements = elements_in(instruction);
  pack_elements(instruction, elements);
  if (instruction.operands.size() < kMatrices || !is_known_mma(instruction, shape, elements)) {
    code.refuse("this matrix product");
    return;
  }
  Product bound;
  auto product = std::make_shared<MatrixProduct>();
  if (!bind_product(code, instruction, shape, elements, bound) ||
      !bind_narrow(code, instruction, shape, elements[1], *product)) {
    return;
  }
  const auto& [d, a, b, c] = bound.slots;
  product->a = mma_fragment(MatrixRole::kA, elements[1], bound.sizes[1], a);
  product->b = mma_fragment(MatrixRole::kB, elements[2], bound.sizes[2], b);
  product->c = mma_fragment(MatrixRole::kAccumulator, elements[3], bound.sizes[3], c);
  product->d = mma_fragment(MatrixRole::kAccumulator, elements[0], bound.sizes[0], d);
  product->saturates = instruction.has(Modifier::kSatfinite);
  product->counts_differing = instruction.has(Modifier::kXor);
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
  // Narrower elements lie in lines along K.
  const bool is_b = instruction.has(Modifier::kB);
  const bool is_narrow = elements.size() == 1 && element_bits(elements[0]) < 8;
  if (elements.size() != 1 || operands.size() < 2 || shape.m == 0 ||
      (is_narrow && is_b != instruction.has(Modifier::kCol))) {
    code.refuse("this matrix access");
    return;
  }
  const std::array<std::uint32_t, 2> size = instruction.has(Modifier::kA)
                                                ? std::array{shape.m, shape.k}
                                            : is_b ? std::array{shape.k, shape.n}
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
  access->fragment = wmma_fragment(elements[0], size, std::move(slots), is_narrow && is_b);
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
  if (!instruction.has(Modifier::kMma) || instruction.operands.size() != kMatrices ||
      !is_known_product(shape, elements) || !is_known_bit_product(instruction, elements)) {
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
  product->b = wmma_fragment(elements[2], bound.sizes[2], b, element_bits(elements[2]) < 8);
  product->c = wmma_fragment(elements[3], bound.sizes[3], c);
  product->saturates = instruction.has(Modifier::kSatfinite);
  product->counts_differing = instruction.has(Modifier::kXor);
  code.emit(&execute_mma, std::move(product));
}

namespace {

// Of an instruction whose layout is known: read_matrix_layout() knows no others.
MatrixRowShape row_shape(const ptx::Instruction& instruction) {
  if (instruction.has(Modifier::kM8n8)) {
    return instruction.has(Modifier::kTrans) ? MatrixRowShape::k8x8Transposed
                                             : MatrixRowShape::k8x8;
  }
  return instruction.has(Modifier::kM8n16)   ? MatrixRowShape::k8x16
         : instruction.has(Modifier::kM16n8) ? MatrixRowShape::k16x8Transposed
                                             : MatrixRowShape::k16x16Transposed;
}

}  // namespace

// ldmatrix… registers, [address]; stmatrix… [address], registers
void decode_matrix_rows(CodeEmitter& code, const ptx::Instruction& instruction) {
  const bool loads = instruction.opcode == Opcode::kLdmatrix;
  const auto& operands = instruction.operands;
  const auto layout = ptx::read_matrix_layout(instruction);
  if (operands.size() != 2 || !layout) {
    code.refuse("this matrix access");
    return;
  }
  auto rows = std::make_shared<MatrixRows>();
  rows->shape = row_shape(instruction);
  rows->element_bits = instruction.has(Modifier::kM8n8)       ? 16
                       : instruction.has(Modifier::kB6x16P32) ? 6
                       : instruction.has(Modifier::kB4x16P64) ? 4
                                                              : 8;
  Instruction place;
  if (!bind_place(code, operands[loads ? 1 : 0], ptx::classify(instruction).space, place) ||
      !bind_registers(code, operands[loads ? 0 : 1], ScalarType::kB32, loads, rows->slots)) {
    return;
  }
  if (rows->slots.size() != layout->lanes / 8) {
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
