#include "emulator/execute/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "emulator/execute/fp8.h"
#include "emulator/execute/lanes/addresses.h"
#include "emulator/execute/lanes/half.h"
#include "emulator/state/host_address.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

using baseline::source;
using baseline::target;

namespace {

constexpr std::size_t kMostInputs = 4096, kMostSums = 1024;

// The matrices of a product as numbers; allocated once for a thread.
struct Numbers {
  double stored[kMostInputs];  // of a sparse A
  double a[kMostInputs], b[kMostInputs], sums[kMostSums];
};

Numbers& numbers() {
  thread_local const auto kept = std::make_unique<Numbers>();
  return *kept;
}

// All lanes of the warp execute it, at this very instruction.
template <class Execute>
Step with_warp(Context& c, const Instruction& in, std::uint32_t mask, Execute execute) {
  return is_whole_warp(c, mask) ? execute() : wait_for_warp(c, in, mask);
}

}  // namespace

bool is_whole_warp(const Context& c, std::uint32_t mask) {
  return (c.warp->live & ~mask) == 0;
}

Step wait_for_warp(Context& c, const Instruction& in, std::uint32_t mask) {
  const Step step = wait_for_members(c, in, {.mask = mask, .group = mask, .members = kFullMask});
  c.warp->running().meets_here = true;
  return step;
}

// --- elements as numbers ---

double number_of(MatrixElement element, std::uint64_t bits) {
  switch (element) {
    case MatrixElement::kF16:
      return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
    case MatrixElement::kBf16:
      return static_cast<double>(
          baseline::to_float(baseline::Bfloat16{static_cast<std::uint16_t>(bits)}));
    case MatrixElement::kTf32:
      // The low 13 bits are not looked at.
      return static_cast<double>(
          std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xffffe000U));
    case MatrixElement::kF32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case MatrixElement::kF64:
      return std::bit_cast<double>(bits);
    case MatrixElement::kE4m3:
      return static_cast<double>(from_e4m3(static_cast<std::uint8_t>(bits)));
    case MatrixElement::kE5m2:
      return static_cast<double>(from_e5m2(static_cast<std::uint8_t>(bits)));
    case MatrixElement::kE3m2:
      return static_cast<double>(from_e3m2(static_cast<std::uint32_t>(bits)));
    case MatrixElement::kE2m3:
      return static_cast<double>(from_e2m3(static_cast<std::uint32_t>(bits)));
    case MatrixElement::kE2m1:
      return static_cast<double>(from_e2m1(static_cast<std::uint32_t>(bits >> 2)));
    case MatrixElement::kPackedE2m1:
      return static_cast<double>(from_e2m1(static_cast<std::uint32_t>(bits)));
    case MatrixElement::kB1:
      return static_cast<double>(bits & 1);
    case MatrixElement::kS8:
      return static_cast<std::int8_t>(bits);
    case MatrixElement::kU8:
      return static_cast<std::uint8_t>(bits);
    case MatrixElement::kS4:
      return static_cast<std::int8_t>((bits & 15) << 4) >> 4;
    case MatrixElement::kU4:
      return static_cast<double>(bits & 15);
    case MatrixElement::kS32:
      return static_cast<std::int32_t>(bits);
  }
  return 0;
}

namespace {

std::uint64_t bits_of(MatrixElement element, double value) {
  switch (element) {
    case MatrixElement::kF16:
      return std::bit_cast<std::uint16_t>(baseline::to_half<_Float16>(static_cast<float>(value)));
    case MatrixElement::kF32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case MatrixElement::kF64:
      return std::bit_cast<std::uint64_t>(value);
    case MatrixElement::kS32:
      // Sums of small integers are exact in double.
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    case MatrixElement::kBf16:
    case MatrixElement::kTf32:
    case MatrixElement::kE4m3:
    case MatrixElement::kE5m2:
    case MatrixElement::kE3m2:
    case MatrixElement::kE2m3:
    case MatrixElement::kE2m1:
    case MatrixElement::kPackedE2m1:
    case MatrixElement::kS8:
    case MatrixElement::kU8:
    case MatrixElement::kS4:
    case MatrixElement::kU4:
    case MatrixElement::kB1:
      break;  // no accumulators
  }
  return 0;
}

}  // namespace

void read_fragment(const Context& c, const MatrixFragment& fragment, double* matrix) {
  const std::uint32_t bits = element_bits(fragment.element);
  const std::uint64_t ones = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint16_t* element = fragment.elements.data();
  for (const Slot slot : fragment.slots) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t word =
          bits == 64 ? source<std::uint64_t>(c, slot)[lane] : source<std::uint32_t>(c, slot)[lane];
      for (std::uint32_t part = 0; part < fragment.parts; ++part) {
        matrix[*element++] = number_of(fragment.element, (word >> (part * bits % 64)) & ones);
      }
    }
  }
}

void write_fragment(const Context& c, const MatrixFragment& fragment, const double* matrix) {
  const std::uint32_t bits = element_bits(fragment.element);
  const std::uint16_t* element = fragment.elements.data();
  for (const Slot slot : fragment.slots) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      std::uint64_t word = 0;
      for (std::uint32_t part = 0; part < fragment.parts; ++part) {
        word |= bits_of(fragment.element, matrix[*element++]) << (part * bits);
      }
      if (bits == 64) {
        target<std::uint64_t>(c, slot)[lane] = word;
      } else {
        target<std::uint32_t>(c, slot)[lane] = static_cast<std::uint32_t>(word);
      }
    }
  }
}

void saturate(double* sums, std::size_t count) {
  constexpr double kLow = std::numeric_limits<std::int32_t>::min();
  constexpr double kHigh = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = std::min(std::max(sums[i], kLow), kHigh);
  }
}

namespace {

// f64 rounds each step once; sums of products of narrower types are made in double, which is more
// than the manual asks for.
void multiply(const MatrixProduct& product, const double* a, const double* b, double* sums) {
  const std::uint32_t depth = product.b.rows, columns = product.b.columns;
  const bool wide = product.d.element == MatrixElement::kF64;
  for (std::uint32_t row = 0; row < product.a.rows; ++row) {
    double* sum = sums + std::size_t{row} * columns;
    for (std::uint32_t k = 0; k < depth; ++k) {
      // A fragment has all elements of its matrix:
      // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
      const double left = a[row * depth + k];
      const double* right = b + std::size_t{k} * columns;
      for (std::uint32_t column = 0; column < columns; ++column) {
        sum[column] =
            wide ? std::fma(left, right[column], sum[column]) : sum[column] + left * right[column];
      }
    }
  }
}

void count_differing(const MatrixProduct& product, const double* a, const double* b, double* sums) {
  const std::uint32_t depth = product.b.rows, columns = product.b.columns;
  for (std::uint32_t row = 0; row < product.a.rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      for (std::uint32_t k = 0; k < depth; ++k) {
        const bool differs = a[row * depth + k] != b[std::size_t{k} * columns + column];
        sums[std::size_t{row} * columns + column] += differs ? 1 : 0;
      }
    }
  }
}

void read_inputs(const Context& c, const MatrixProduct& product, Numbers& values) {
  const std::uint32_t depth = product.b.rows;
  if (product.sparsity.metadata == kNoSlot) {
    read_fragment(c, product.a, values.a);
  } else {
    read_fragment(c, product.a, values.stored);
    expand(c, product.sparsity, product.a.element, depth, values.stored, values.a);
  }
  read_fragment(c, product.b, values.b);
  if (product.a_scales.words != kNoSlot) {
    scale_rows(c, product.a_scales, depth, values.a);
    scale_columns(c, product.b_scales, depth, values.b);
  }
}

// Elements narrower than a byte are loaded and stored a register at a time: a lane's lie together.
struct AccessedParts {
  std::uint32_t bytes = 0, count = 0;  // of a register
};

AccessedParts parts_of(const MatrixFragment& fragment) {
  const std::uint32_t bits = element_bits(fragment.element);
  return bits < 8 ? AccessedParts{.bytes = 4, .count = 1}
                  : AccessedParts{.bytes = bits / 8, .count = fragment.parts};
}

// The addresses of one register part of all lanes.
void element_addresses(const Context& c, const Instruction& in, std::size_t first,
                       std::uint64_t* addresses) {
  const auto& access = *static_cast<const MatrixAccess*>(in.extra);
  const MatrixFragment& fragment = access.fragment;
  const std::uint32_t bits = element_bits(fragment.element);
  const auto* bases = source<std::uint64_t>(c, in.a);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t element = fragment.elements[first + std::size_t{lane} * fragment.parts];
    const std::uint32_t row = element / fragment.columns, column = element % fragment.columns;
    const std::uint32_t natural = access.by_columns ? fragment.rows : fragment.columns;
    const std::uint64_t stride = in.b == kNoSlot ? natural : source<std::uint32_t>(c, in.b)[lane];
    const std::uint64_t index = access.by_columns ? column * stride + row : row * stride + column;
    addresses[lane] = bases[lane] + static_cast<std::uint64_t>(in.immediate) + index * bits / 8;
  }
}

// False: an address is wrong, which is reported.
template <class Visit>
bool for_each_part(Context& c, const Instruction& in, std::uint32_t mask, bool is_write,
                   Visit visit) {
  const MatrixFragment& fragment = static_cast<const MatrixAccess*>(in.extra)->fragment;
  const auto [bytes, parts] = parts_of(fragment);
  const std::size_t register_bytes = bytes == 8 ? 8 : 4;
  for (std::size_t number = 0; number < fragment.slots.size(); ++number) {
    auto* lanes = target<std::byte>(c, fragment.slots[number]);
    for (std::uint32_t part = 0; part < parts; ++part) {
      std::uint64_t addresses[kLanes];
      std::uint32_t local_lanes = 0;
      element_addresses(c, in, number * kLanes * fragment.parts + part, addresses);
      if (!resolve_lanes(c, in, mask, {.bytes = bytes, .is_write = is_write}, addresses,
                         local_lanes)) {
        return false;
      }
      for (const int lane : SetBits<int>(mask)) {
        const auto place = static_cast<std::size_t>(lane);
        visit(MatrixPart{.lane = lane,
                         .addressed_by = lane,
                         .value = lanes + place * register_bytes + std::size_t{part} * bytes,
                         .address = addresses[place],
                         .bytes = bytes});
      }
    }
  }
  return true;
}

// --- matrices whose rows have an address each ---

constexpr std::uint32_t kRows = 8;

// Part `part` of register `number` of lane `lane` lies in this row, of these of all matrices, and
// column. PTX ISA, "ldmatrix" and "stmatrix": lanes in eight groups of four.
struct RowPlace {
  std::uint32_t row = 0, column = 0;
};

RowPlace row_place(MatrixRowShape shape, std::uint32_t number, std::uint32_t lane,
                   std::uint32_t part) {
  const std::uint32_t group = lane / 4, member = lane % 4;
  switch (shape) {
    case MatrixRowShape::k8x8:
      return {.row = number * kRows + group, .column = member * 2 + part};
    case MatrixRowShape::k8x8Transposed:
      return {.row = number * kRows + member * 2 + part, .column = group};
    case MatrixRowShape::k8x16:
      return {.row = number * kRows + group, .column = member * 4 + part};
    case MatrixRowShape::k16x16Transposed:
      return {.row = number / 2 * 16 + member * 4 + part, .column = group + number % 2 * 8};
    case MatrixRowShape::k16x8Transposed:
      return {.row = number * kRows + member * 2 + part % 2, .column = group + part / 2 * 8};
  }
  return {};
}

// Of each element, and so of each byte of a register or each half.
template <class Visit>
bool for_each_row_part(Context& c, const Instruction& in, bool is_write, Visit visit) {
  const auto& rows = *static_cast<const MatrixRows*>(in.extra);
  const auto count = static_cast<std::uint32_t>(rows.slots.size()) * kRows;
  const std::uint32_t mask = count >= kLanes ? kFullMask : (std::uint32_t{1} << count) - 1;
  std::uint64_t addresses[kLanes];
  std::uint32_t local_lanes = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    addresses[lane] =
        source<std::uint64_t>(c, in.a)[lane] + static_cast<std::uint64_t>(in.immediate);
  }
  if (!resolve_lanes(c, in, mask & c.warp->live, {.bytes = 16, .is_write = is_write}, addresses,
                     local_lanes)) {
    return false;
  }
  const std::uint32_t bits = rows.element_bits, part_bytes = bits == 16 ? 2 : 1;
  for (std::uint32_t number = 0; number < rows.slots.size(); ++number) {
    auto* words = target<std::uint32_t>(c, rows.slots[number]);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t part = 0; part < 4 / part_bytes; ++part) {
        const RowPlace place = row_place(rows.shape, number, lane, part);
        const std::uint32_t at = place.column * bits, shift = at % 8;
        visit(MatrixPart{
            .lane = static_cast<int>(lane),
            .addressed_by = static_cast<int>(place.row),
            .value = reinterpret_cast<std::byte*>(words + lane) + std::size_t{part} * part_bytes,
            .address = addresses[place.row] + at / 8,
            .bytes = (shift + bits + 7) / 8,
            .shift = shift,
            .bits = bits < 8 ? bits : 0});
      }
    }
  }
  return true;
}

void load_part(const MatrixPart& part) {
  if (part.bits == 0) {
    std::memcpy(part.value, host_address<const std::byte>(part.address), part.bytes);
    return;
  }
  std::uint16_t packed = 0;
  std::memcpy(&packed, host_address<const std::byte>(part.address), part.bytes);
  *part.value = static_cast<std::byte>((packed >> part.shift) & ((1U << part.bits) - 1));
}

void store_part(const MatrixPart& part) {
  std::memcpy(host_address<std::byte>(part.address), part.value, part.bytes);
}

Step step_if(bool is_done) {
  return is_done ? Step::kNext : Step::kSwitch;
}

}  // namespace

Step execute_mma(Context& c, const Instruction& in, std::uint32_t mask) {
  return with_warp(c, in, mask, [&] {
    const auto& product = *static_cast<const MatrixProduct*>(in.extra);
    Numbers& values = numbers();
    double* const sums = values.sums;
    read_inputs(c, product, values);
    read_fragment(c, product.c, sums);
    if (product.counts_differing) {
      count_differing(product, values.a, values.b, sums);
    } else {
      multiply(product, values.a, values.b, sums);
    }
    if (product.saturates) {
      saturate(sums, std::size_t{product.d.rows} * product.d.columns);
    }
    write_fragment(c, product.d, sums);
    return Step::kNext;
  });
}

Step execute_matrix_load(Context& c, const Instruction& in, std::uint32_t mask) {
  return with_warp(c, in, mask,
                   [&] { return step_if(for_each_part(c, in, mask, false, load_part)); });
}

Step execute_matrix_store(Context& c, const Instruction& in, std::uint32_t mask) {
  return with_warp(c, in, mask,
                   [&] { return step_if(for_each_part(c, in, mask, true, store_part)); });
}

Step execute_load_matrix(Context& c, const Instruction& in, std::uint32_t mask) {
  return with_warp(c, in, mask,
                   [&] { return step_if(for_each_row_part(c, in, false, load_part)); });
}

Step execute_store_matrix(Context& c, const Instruction& in, std::uint32_t mask) {
  return with_warp(c, in, mask,
                   [&] { return step_if(for_each_row_part(c, in, true, store_part)); });
}

bool find_parts(Context& c, const Instruction& in, Handler access, std::uint32_t mask,
                std::vector<MatrixPart>& parts) {
  const auto add = [&parts](const MatrixPart& part) { parts.push_back(part); };
  const bool is_row_store = access == &execute_store_matrix;
  return is_row_store || access == &execute_load_matrix
             ? for_each_row_part(c, in, is_row_store, add)
             : for_each_part(c, in, mask, access == &execute_matrix_store, add);
}

Step execute_move_matrix(Context& c, const Instruction& in, std::uint32_t mask) {
  return with_warp(c, in, mask, [&] {
    std::uint16_t matrix[kRows][kRows];
    const auto* from = source<std::uint32_t>(c, in.a);
    auto* to = target<std::uint32_t>(c, in.d);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t row = lane / 4, column = std::size_t{lane % 4} * 2;
      matrix[row][column] = static_cast<std::uint16_t>(from[lane]);
      matrix[row][column + 1] = static_cast<std::uint16_t>(from[lane] >> 16);
    }
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t row = std::size_t{lane % 4} * 2, column = lane / 4;
      const std::uint32_t low = matrix[row][column];
      const std::uint32_t high = matrix[row + 1][column];
      to[lane] = low | high << 16;
    }
    return Step::kNext;
  });
}

}  // namespace barracuda::emulator
