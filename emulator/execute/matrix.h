// mma, wmma, ldmatrix, stmatrix, movmatrix: the lanes of a warp hold parts of matrices. Which part
// lies where is worked out at decoding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/execute/form.h"
#include "emulator/execute/matrix_element.h"
#include "emulator/execute/narrow_matrix.h"

namespace barracuda::emulator {

// The registers of one matrix. Part p of register r of lane l, counted from the low bits, is
// element elements[(r * kLanes + l) * parts + p] of the matrix, row by row.
struct MatrixFragment {
  MatrixElement element = MatrixElement::kF32;
  std::uint32_t rows = 0, columns = 0, parts = 1;
  std::vector<Slot> slots;
  std::vector<std::uint16_t> elements;

  // A place for each part of each register of each lane, all of them in the matrix.
  [[nodiscard]] bool is_valid() const;
};

enum class MatrixRole : std::uint8_t { kA, kB, kAccumulator };

// As the PTX manual lays out the operands of mma.
MatrixFragment mma_fragment(MatrixRole role, MatrixElement element,
                            const std::array<std::uint32_t, 2>& size, std::vector<Slot> slots);
// Of wmma the layout is ours: a lane has consecutive elements of a row; or of a column, which is
// what a B has that is narrower than a byte, and must lie in columns.
MatrixFragment wmma_fragment(MatrixElement element, const std::array<std::uint32_t, 2>& size,
                             std::vector<Slot> slots, bool by_columns = false);

// Instruction::extra of execute_mma.
struct MatrixProduct {
  MatrixFragment a, b, c, d;  // a: what of it is stored
  bool saturates = false;
  bool counts_differing = false;  // of single bits
  Sparsity sparsity;
  BlockScales a_scales, b_scales;
};

// Of execute_matrix_load and execute_matrix_store: Instruction::a, immediate and flags are the
// address, b the stride in elements or none.
struct MatrixAccess {
  MatrixFragment fragment;
  bool by_columns = false;
};

// Of execute_load_matrix and execute_store_matrix.
enum class MatrixRowShape : std::uint8_t {
  k8x8,              // of 16 bits
  k8x8Transposed,    // the same
  k8x16,             // of bytes, loaded alone
  k16x16Transposed,  // the same: two registers
  k16x8Transposed,   // of bytes, stored alone: each address is that of a column
};

struct MatrixRows {
  std::vector<Slot> slots;
  MatrixRowShape shape = MatrixRowShape::k8x8;
  std::uint32_t element_bits = 16;  // in memory: 6 or 4 become bytes in registers
};

// A part of a lane's register and the bytes of memory that it is loaded from or stored to.
struct MatrixPart {
  int lane = 0;
  int addressed_by = 0;  // the lane that has said where
  std::byte* value = nullptr;
  std::uint64_t address = 0;  // on the host
  std::uint32_t bytes = 0;
  // Of an element that becomes a byte in the register: where it lies in the bytes. 0 bits: all.
  std::uint32_t shift = 0, bits = 0;
};

// Whether the lanes are all that live of the warp; else they wait for the others, at this very
// instruction.
bool is_whole_warp(const Context& c, std::uint32_t mask);
Step wait_for_warp(Context& c, const Instruction& in, std::uint32_t mask);

double number_of(MatrixElement element, std::uint64_t bits);
// The whole matrix, row by row.
void read_fragment(const Context& c, const MatrixFragment& fragment, double* matrix);
void write_fragment(const Context& c, const MatrixFragment& fragment, const double* matrix);
// To numbers of s32.
void saturate(double* sums, std::size_t count);

// All parts of one of the four loads and stores below, which the whole warp executes. False: an
// address is wrong, which is reported.
bool find_parts(Context& c, const Instruction& in, Handler access, std::uint32_t mask,
                std::vector<MatrixPart>& parts);

Step execute_mma(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_matrix_load(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_matrix_store(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_load_matrix(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_store_matrix(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_move_matrix(Context& c, const Instruction& in, std::uint32_t mask);  // a to d

}  // namespace barracuda::emulator
