// mma, wmma, ldmatrix, stmatrix, movmatrix: the lanes of a warp hold parts of matrices. Which part
// lies where is worked out at decoding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/execute/form.h"

namespace barracuda::emulator {

enum class MatrixElement : std::uint8_t {
  kF16,
  kBf16,
  kTf32,
  kF32,
  kF64,
  kE4m3,
  kE5m2,
  kS8,
  kU8,
  kS4,
  kU4,
  kS32,
};

std::uint32_t element_bits(MatrixElement element);

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
// Of wmma the layout is ours: a lane has consecutive elements.
MatrixFragment wmma_fragment(MatrixElement element, const std::array<std::uint32_t, 2>& size,
                             std::vector<Slot> slots);

// Instruction::extra of execute_mma.
struct MatrixProduct {
  MatrixFragment a, b, c, d;
  bool saturates = false;
};

// Of execute_matrix_load and execute_matrix_store: Instruction::a, immediate and flags are the
// address, b the stride in elements or none.
struct MatrixAccess {
  MatrixFragment fragment;
  bool by_columns = false;
};

// Of execute_load_matrix and execute_store_matrix: 8x8 matrices of 16 bits.
struct MatrixRows {
  std::vector<Slot> slots;
  bool transposed = false;
};

// A part of a lane's register and the bytes of memory that it is loaded from or stored to.
struct MatrixPart {
  int lane = 0;
  int addressed_by = 0;  // the lane that has said where
  std::byte* value = nullptr;
  std::uint64_t address = 0;  // on the host
  std::uint32_t bytes = 0;
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
