#include "emulator/execute/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "emulator/execute/asynchronous.h"
#include "emulator/execute/lanes/lanes.h"
#include "emulator/execute/matrix.h"
#include "emulator/execute/matrix_tile.h"
#include "emulator/execute/range.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/cta.h"
#include "emulator/state/host_address.h"
#include "emulator/state/mbarrier.h"

namespace barracuda::emulator {

using baseline::predicate;
using baseline::source;
using baseline::target;
using wire::TensorKind;
using wire::TensorShape;

namespace {

constexpr std::uint32_t kOperandColumns = wire::kDepthBytes / sizeof(std::uint32_t);  // of an A
constexpr std::uint32_t kMostDepth = wire::kDepthBytes;  // elements of a byte

// Row by row of `depth`, and the sums row by row; allocated once for a thread.
struct Numbers {
  double a[std::size_t{wire::kMaxTensorRows} * kMostDepth];
  double b[std::size_t{wire::kMaxColumns} * kMostDepth];
  double sums[std::size_t{wire::kMaxTensorRows} * wire::kMaxColumns];
};

Numbers& numbers() {
  thread_local const auto kept = std::make_unique<Numbers>();
  return *kept;
}

TensorMemory& memory_of(Context& c) {
  if (c.cta->tensor_memory == nullptr) {
    c.cta->tensor_memory = std::make_unique<TensorMemory>();
  }
  return *c.cta->tensor_memory;
}

Step fail_with(Context& c, const Instruction& in, int lane, std::string what) {
  return fail(c, in, Fault{.code = DeviceErrorCode::kTrap, .lane = lane, .what = std::move(what)});
}

TensorAddress tensor_address(const Context& c, const Instruction& place, int lane) {
  return TensorAddress::of(static_cast<std::uint32_t>(address_at(c, place, lane)));
}

// False: not all of these columns are allocated, which is reported.
bool is_allocated(Context& c, const Instruction& in, int lane, const TensorAddress& at,
                  std::uint32_t columns) {
  if (at.row < TensorMemory::kRows && memory_of(c).is_allocated(at.column, columns)) {
    return true;
  }
  fail_with(c, in, lane,
            fmt::format("{} columns of tensor memory from lane {}, column {} were used, which are "
                        "not allocated",
                        columns, at.row, at.column));
  return false;
}

// --- products ---

struct ProductTypes {
  MatrixElement a = MatrixElement::kF16, b = MatrixElement::kF16, sum = MatrixElement::kF32;
};

std::optional<MatrixElement> element_of(TensorKind kind, std::uint32_t format) {
  switch (kind) {
    case TensorKind::kF16:
      return format == 0   ? std::optional(MatrixElement::kF16)
             : format == 1 ? std::optional(MatrixElement::kBf16)
                           : std::nullopt;
    case TensorKind::kTf32:
      return format == 2 ? std::optional(MatrixElement::kTf32) : std::nullopt;
    case TensorKind::kF8f6f4:
      return format == 0   ? std::optional(MatrixElement::kE4m3)
             : format == 1 ? std::optional(MatrixElement::kE5m2)
                           : std::nullopt;
    case TensorKind::kI8:
      return format == 0   ? std::optional(MatrixElement::kU8)
             : format == 1 ? std::optional(MatrixElement::kS8)
                           : std::nullopt;
    case TensorKind::kMxf8f6f4:
    case TensorKind::kMxf4:
    case TensorKind::kCopy:
      break;
  }
  return std::nullopt;
}

// Those that wgmma has too, but for sums of half precision: how these lie is not known.
std::optional<ProductTypes> types_of(TensorKind kind, const TensorShape& shape) {
  const auto a = element_of(kind, shape.a_format), b = element_of(kind, shape.b_format);
  const bool is_integer = kind == TensorKind::kI8;
  if (!a || !b || shape.sum_format != (is_integer ? 2 : 1)) {
    return std::nullopt;
  }
  return ProductTypes{
      .a = *a, .b = *b, .sum = is_integer ? MatrixElement::kS32 : MatrixElement::kF32};
}

// Of 64 rows each warp has sixteen, in one half of its rows of tensor memory.
std::uint32_t row_of(std::uint32_t row, std::uint32_t rows) {
  return rows == TensorMemory::kRows ? row : row / 16 * 32 + row % 16;
}

class Product {
 public:
  Product(Context& context, const Instruction& in, int lane)
      : c_(context),
        in_(in),
        operands_(*static_cast<const TensorCoreOperands*>(in.extra)),
        lane_(lane),
        d_(tensor_address(context, operands_.memory, lane)),
        descriptor_(source<std::uint32_t>(context, operands_.shape)[lane]),
        shape_(wire::read_instruction_descriptor(kind(), descriptor_)) {}

  // False: the launch has failed.
  bool execute() {
    const auto matrices = wire::matrices_of(operands_.instruction.reads, descriptor(operands_.a),
                                            descriptor(operands_.b), descriptor_);
    const auto types = types_of(kind(), shape_);
    if (!matrices || !matrices->b || !types) {
      return refuse(!types ? "types" : "matrices");
    }
    types_ = *types;
    depth_ = wire::kDepthBytes * 8 / element_bits(types_.a);
    const bool is_placed = d_.row == 0 || (shape_.rows == 64 && d_.row == 16);
    if (!is_placed) {
      return refuse("lane of tensor memory");
    }
    if (!is_allocated(c_, in_, lane_, d_, shape_.columns) || !read_a(*matrices) ||
        !read_b(*matrices->b)) {
      return false;
    }
    multiply();
    return true;
  }

 private:
  [[nodiscard]] TensorKind kind() const { return operands_.instruction.reads.kind; }

  [[nodiscard]] std::uint64_t descriptor(Slot slot) const {
    return slot == kNoSlot ? 0 : source<std::uint64_t>(c_, slot)[lane_];
  }

  bool refuse(std::string_view what) {
    fail_with(c_, in_, lane_,
              fmt::format("a product whose {} the emulated device does not know was issued (M {}, "
                          "N {}, instruction descriptor {:#010x})",
                          what, shape_.rows, shape_.columns, descriptor_));
    return false;
  }

  [[nodiscard]] MatrixTile tile(const wire::TensorMatrix& matrix, MatrixElement element) const {
    return {.matrix = matrix.matrix,
            .major = matrix.major,
            .rows = matrix.rows,
            .element = element,
            .depth = depth_};
  }

  [[nodiscard]] std::uint32_t mask() const { return std::uint32_t{1} << lane_; }

  bool read_a(const wire::TensorMatrices& matrices) {
    if (matrices.a) {
      const MatrixTile a = tile(*matrices.a, types_.a);
      if (!is_there(c_, in_, mask(), a)) {
        return false;
      }
      read_tile(c_, a, shape_.negates_a, numbers().a);
      return true;
    }
    const TensorAddress at = tensor_address(c_, operands_.memory_of_a, lane_);
    if (shape_.rows != TensorMemory::kRows || at.row != 0) {
      return refuse("place of A in tensor memory");
    }
    if (!is_allocated(c_, in_, lane_, at, kOperandColumns)) {
      return false;
    }
    double* to = numbers().a;
    const std::uint32_t bytes = element_bits(types_.a) / 8;
    for (std::uint32_t row = 0; row < shape_.rows; ++row) {
      const auto* const words =
          reinterpret_cast<const std::byte*>(memory_of(c_).at(row, at.column));
      for (std::uint32_t k = 0; k < depth_; ++k) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, words + std::size_t{k} * bytes, bytes);
        const double number = number_of(types_.a, bits);
        *to++ = shape_.negates_a ? -number : number;
      }
    }
    return true;
  }

  bool read_b(const wire::TensorMatrix& matrix) {
    const MatrixTile b = tile(matrix, types_.b);
    if (!is_there(c_, in_, mask(), b)) {
      return false;
    }
    read_tile(c_, b, shape_.negates_b, numbers().b);
    return true;
  }

  // Sums of products are made in double, and rounded once.
  void multiply() {
    Numbers& values = numbers();
    const bool adds = (predicate(c_, operands_.adds) >> lane_ & 1) != 0;
    for (std::uint32_t row = 0; row < shape_.rows; ++row) {
      std::uint32_t* const sums = memory_of(c_).at(d_.row + row_of(row, shape_.rows), d_.column);
      const double* const left = values.a + std::size_t{row} * depth_;
      for (std::uint32_t column = 0; column < shape_.columns; ++column) {
        const double* const right = values.b + std::size_t{column} * depth_;
        double sum = adds ? number_of(types_.sum, sums[column]) : 0;
        for (std::uint32_t k = 0; k < depth_; ++k) {
          sum += left[k] * right[k];
        }
        sums[column] = bits_of_sum(sum);
      }
    }
  }

  [[nodiscard]] std::uint32_t bits_of_sum(double sum) const {
    if (types_.sum == MatrixElement::kF32) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
    }
    if (shape_.saturates) {
      saturate(&sum, 1);
    }
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
  }

  Context& c_;
  const Instruction& in_;
  const TensorCoreOperands& operands_;
  int lane_;
  TensorAddress d_;
  std::uint32_t descriptor_;
  TensorShape shape_;
  ProductTypes types_;
  std::uint32_t depth_ = 0;
};

// --- loads and stores ---

// The first of the rows of the warp, a word for each lane; null: the launch has failed.
std::optional<TensorAddress> rows_of_warp(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto& operands = *static_cast<const TensorCoreOperands*>(in.extra);
  const int lane = std::countr_zero(mask);
  const TensorAddress at = tensor_address(c, operands.memory, lane);
  const std::uint32_t own = c.warp->index % wire::kWarpgroupWarps * kLanes;
  if (at.row != own) {
    fail_with(c, in, lane,
              fmt::format("lanes of tensor memory from {} on were used by warp {}, whose begin at "
                          "{}",
                          at.row, c.warp->index, own));
    return std::nullopt;
  }
  const auto columns = static_cast<std::uint32_t>(operands.registers.size());
  return is_allocated(c, in, lane, at, columns) ? std::optional(at) : std::nullopt;
}

}  // namespace

Step execute_tensor_core_product(Context& c, const Instruction& in, std::uint32_t mask) {
  for (const int lane : SetBits<int>(mask)) {
    if (!Product(c, in, lane).execute()) {
      return Step::kSwitch;
    }
  }
  return Step::kNext;
}

Step execute_tensor_core_copy(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto& operands = *static_cast<const TensorCoreOperands*>(in.extra);
  for (const int lane : SetBits<int>(mask)) {
    const auto matrices = wire::matrices_of(operands.instruction.reads,
                                            source<std::uint64_t>(c, operands.a)[lane], 0, 0);
    const TensorAddress to = tensor_address(c, operands.memory, lane);
    if (!matrices || !matrices->a || to.row != 0) {
      return fail_with(c, in, lane,
                       "a copy whose matrix or lane of tensor memory the emulated device does not "
                       "know was issued");
    }
    const MatrixTile tile{.matrix = matrices->a->matrix, .rows = matrices->a->rows};
    const std::uint32_t words = tile.rows.depth_bytes / sizeof(std::uint32_t);
    if (!is_allocated(c, in, lane, to, words) || !is_there(c, in, std::uint32_t{1} << lane, tile)) {
      return Step::kSwitch;
    }
    // 32 rows go to each warp's.
    for (std::uint32_t row = 0; row < TensorMemory::kRows; ++row) {
      for (std::uint32_t unit = 0; unit < tile.rows.depth_bytes / wire::kUnitBytes; ++unit) {
        std::memcpy(memory_of(c).at(row, to.column + unit * wire::kUnitBytes / 4),
                    c.shared + wire::unit_address(tile.matrix, wire::MatrixMajor::kDepth,
                                                  row % tile.rows.count, unit),
                    wire::kUnitBytes);
      }
    }
  }
  return Step::kNext;
}

Step execute_tensor_core_load(Context& c, const Instruction& in, std::uint32_t mask) {
  if (!is_whole_warp(c, mask)) {
    return wait_for_warp(c, in, mask);
  }
  const auto& operands = *static_cast<const TensorCoreOperands*>(in.extra);
  const auto at = rows_of_warp(c, in, mask);
  if (!at) {
    return Step::kSwitch;
  }
  for (const std::uint32_t lane : SetBits(mask)) {
    const std::uint32_t* const row = memory_of(c).at(at->row + lane, at->column);
    for (std::size_t column = 0; column < operands.registers.size(); ++column) {
      target<std::uint32_t>(c, operands.registers[column])[lane] = row[column];
    }
  }
  return Step::kNext;
}

Step execute_tensor_core_store(Context& c, const Instruction& in, std::uint32_t mask) {
  if (!is_whole_warp(c, mask)) {
    return wait_for_warp(c, in, mask);
  }
  const auto& operands = *static_cast<const TensorCoreOperands*>(in.extra);
  const auto at = rows_of_warp(c, in, mask);
  if (!at) {
    return Step::kSwitch;
  }
  for (const std::uint32_t lane : SetBits(mask)) {
    std::uint32_t* const row = memory_of(c).at(at->row + lane, at->column);
    for (std::size_t column = 0; column < operands.registers.size(); ++column) {
      row[column] = source<std::uint32_t>(c, operands.registers[column])[lane];
    }
  }
  return Step::kNext;
}

Step execute_tensor_core_allocate(Context& c, const Instruction& in, std::uint32_t mask) {
  if (!is_whole_warp(c, mask)) {
    return wait_for_warp(c, in, mask);
  }
  const int lane = std::countr_zero(mask);
  const std::uint32_t columns = source<std::uint32_t>(c, in.b)[lane];
  if (!TensorMemory::can_allocate(columns)) {
    return fail_with(c, in, lane,
                     fmt::format("{} columns of tensor memory were asked for", columns));
  }
  constexpr std::uint32_t kBytes = 4;
  std::byte* const to =
      resolve_range(c, in, address_at(c, in, lane),
                    {.bytes = kBytes, .alignment = kBytes, .is_write = true}, lane);
  if (to == nullptr) {
    return Step::kSwitch;
  }
  const auto column = memory_of(c).allocate(columns);
  if (!column) {
    return fail_with(c, in, lane,
                     fmt::format("there is no room for {} columns of tensor memory, and the "
                                 "emulated device does not wait for it",
                                 columns));
  }
  if (c.weak != nullptr) {
    settle_for_copy(c, lane, to, kBytes);
  }
  std::memcpy(to, &*column, kBytes);
  return Step::kNext;
}

Step execute_tensor_core_free(Context& c, const Instruction& in, std::uint32_t mask) {
  if (!is_whole_warp(c, mask)) {
    return wait_for_warp(c, in, mask);
  }
  const int lane = std::countr_zero(mask);
  const TensorAddress at = TensorAddress::of(source<std::uint32_t>(c, in.a)[lane]);
  const std::uint32_t columns = source<std::uint32_t>(c, in.b)[lane];
  if (at.row != 0 || !memory_of(c).free(at.column, columns)) {
    return fail_with(
        c, in, lane,
        fmt::format("{} columns of tensor memory from {} on were freed, which were not "
                    "allocated so",
                    columns, at.column));
  }
  return Step::kNext;
}

Step execute_tensor_core_commit(Context& c, const Instruction& in, std::uint32_t mask) {
  std::uint64_t words[kLanes];
  if (!resolve_mbarriers(c, in, mask, words)) {
    return Step::kSwitch;
  }
  if (c.weak != nullptr &&
      !drain(c, mask, wire::Scope::kCluster, WeakEnd::kRelease, Pace::kAtOnce)) {
    return try_again(c);
  }
  for (const int lane : SetBits<int>(mask)) {
    auto* const word = host_address<std::uint64_t>(words[lane]);
    if (change_mbarrier(word, {.arrivals = 1}) != MbarrierResult::kDone) {
      return fail_with(c, in, lane,
                       "an arrival at an mbarrier that does not expect it, or was not "
                       "initialised, was made");
    }
  }
  return Step::kNext;
}

}  // namespace barracuda::emulator
