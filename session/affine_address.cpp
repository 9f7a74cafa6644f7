#include "session/affine_address.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace barracuda::session {
namespace {

using ptx::AddressNode;
using ptx::AddressOp;
using Value = std::optional<AffineAddress>;

constexpr std::uint32_t kWord = 4;
constexpr std::uint64_t kWordRange = std::uint64_t{1} << 32;
// A counter of 32 bits with such a step cannot pass by all that lies outside of an array: it has
// left the array before it comes back (a step as of a hash function is larger).
constexpr std::int64_t kLargestStep = std::int64_t{1} << 30;

// The number nearest to 0 that is the same modulo 2^32.
std::int64_t centred(std::int64_t number) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
}

std::int64_t wrapping_sum(std::int64_t first, std::int64_t second) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                   static_cast<std::uint64_t>(second));
}

std::int64_t wrapping_product(std::int64_t first, std::int64_t second) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) *
                                   static_cast<std::uint64_t>(second));
}

bool add_step(AffineAddress& sum, std::int64_t step) {
  const auto end = sum.steps.begin() + sum.step_count;
  if (step == 0 || std::find(sum.steps.begin(), end, step) != end) {
    return true;  // some times of it and some times of it are some times of it
  }
  if (sum.step_count == sum.steps.size()) {
    return false;
  }
  sum.steps.at(sum.step_count++) = step;
  return true;
}

// Every part times `factor`; modulo 2^32 if of 4 bytes.
Value scaled(const AffineAddress& value, std::int64_t factor, std::uint32_t bytes) {
  const auto times = [&](std::int64_t part) {
    const std::int64_t product = wrapping_product(part, factor);
    return bytes == kWord ? centred(product) : product;
  };
  AffineAddress product{.constant = times(value.constant)};
  std::ranges::transform(value.factors, product.factors.begin(), times);
  for (std::uint32_t i = 0; i < value.step_count; ++i) {
    if (!add_step(product, times(value.steps.at(i)))) {
      return std::nullopt;
    }
  }
  return product;
}

Value sum_of(const AffineAddress& first, const AffineAddress& second, std::uint32_t bytes) {
  const auto plus = [&](std::int64_t one, std::int64_t other) {
    const std::int64_t sum = wrapping_sum(one, other);
    return bytes == kWord ? centred(sum) : sum;
  };
  AffineAddress sum = first;
  sum.constant = plus(first.constant, second.constant);
  for (std::size_t i = 0; i < kThreadNumbers; ++i) {
    sum.factors.at(i) = plus(first.factors.at(i), second.factors.at(i));
  }
  for (std::uint32_t i = 0; i < second.step_count; ++i) {
    if (!add_step(sum, second.steps.at(i))) {
      return std::nullopt;
    }
  }
  return sum;
}

// Evaluates one node after the other: operands come first.
class Evaluation {
 public:
  explicit Evaluation(const LaunchNumbers& launch) : launch_(launch) {}

  std::vector<Value> run(std::span<const AddressNode> nodes) {
    values_.reserve(nodes.size());
    for (const AddressNode& node : nodes) {
      values_.push_back(value_of(node));
    }
    return std::move(values_);
  }

 private:
  Value value_of(const AddressNode& node) {
    switch (node.op) {
      case AddressOp::kConstant:
        return constant(static_cast<std::int64_t>(node.value), node.bytes);
      case AddressOp::kArgument:
        return argument(node);
      case AddressOp::kThread:
      case AddressOp::kBlock:
        return number(node.value + (node.op == AddressOp::kBlock ? kThreadNumbers / 2 : 0));
      case AddressOp::kBlockSize:
      case AddressOp::kGridSize:
        return constant(
            launch_.extents.at(node.value +
                               (node.op == AddressOp::kGridSize ? kThreadNumbers / 2 : 0)),
            node.bytes);
      case AddressOp::kAdd:
      case AddressOp::kSubtract:
      case AddressOp::kMultiply:
      case AddressOp::kShiftLeft:
      case AddressOp::kShiftRight:
      case AddressOp::kAnd:
      case AddressOp::kOr:
      case AddressOp::kWiden:
      case AddressOp::kNarrow:
      case AddressOp::kCount:
        break;
    }
    const Value& first = values_.at(node.first);
    const Value& second = values_.at(node.second);
    return first && second ? combined(node, *first, *second) : std::nullopt;
  }

  Value combined(const AddressNode& node, const AffineAddress& first,
                 const AffineAddress& second) const {
    switch (node.op) {
      case AddressOp::kAdd:
        return sum_of(first, second, node.bytes);
      case AddressOp::kSubtract: {
        const Value negative = scaled(second, -1, node.bytes);
        return negative ? sum_of(first, *negative, node.bytes) : std::nullopt;
      }
      case AddressOp::kMultiply:
        return first.is_constant()    ? scaled(second, first.constant, node.bytes)
               : second.is_constant() ? scaled(first, second.constant, node.bytes)
                                      : std::nullopt;
      case AddressOp::kWiden:
        return widened(first, node.is_signed);
      case AddressOp::kNarrow:
        return scaled(first, 1, kWord);
      case AddressOp::kCount:
        return counted(first, second);
      case AddressOp::kOr:
        if (have_disjoint_bits(first, second) || have_disjoint_bits(second, first)) {
          return sum_of(first, second, node.bytes);
        }
        return of_constants(node, first, second);
      case AddressOp::kShiftLeft:
        return second.is_constant() && second.constant >= 0 && second.constant < 8 * node.bytes
                   ? scaled(first, static_cast<std::int64_t>(std::uint64_t{1} << second.constant),
                            node.bytes)
                   : std::nullopt;
      case AddressOp::kShiftRight:
      case AddressOp::kAnd:
        return of_constants(node, first, second);
      case AddressOp::kConstant:
      case AddressOp::kArgument:
      case AddressOp::kThread:
      case AddressOp::kBlock:
      case AddressOp::kBlockSize:
      case AddressOp::kGridSize:
        break;
    }
    return std::nullopt;
  }

  static AffineAddress constant(std::int64_t value, std::uint32_t bytes) {
    return {.constant = bytes == kWord ? centred(value) : value};
  }

  [[nodiscard]] Value argument(const AddressNode& node) const {
    const std::uint64_t at = launch_.parameters[node.word.parameter].offset + node.word.offset;
    if (at + node.bytes > launch_.arguments.size()) {
      return std::nullopt;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, launch_.arguments.data() + at, node.bytes);
    return constant(static_cast<std::int64_t>(word), node.bytes);
  }

  [[nodiscard]] AffineAddress number(std::size_t which) const {
    AffineAddress value;
    value.factors.at(which) = launch_.extents.at(which) > 1 ? 1 : 0;
    return value;
  }

  struct Interval {
    __int128 low = 0, high = 0;
  };

  // Without what counters add.
  [[nodiscard]] Interval interval_of(const AffineAddress& value) const {
    Interval interval{.low = value.constant, .high = value.constant};
    for (std::size_t i = 0; i < kThreadNumbers; ++i) {
      const __int128 last = __int128{value.factors.at(i)} * (launch_.extents.at(i) - 1);
      (last < 0 ? interval.low : interval.high) += last;
    }
    return interval;
  }

  // 4 bytes as 8. The sum is right modulo 2^32: what it is moved by so that its least value is one
  // of the type must be right for its greatest as well.
  [[nodiscard]] Value widened(const AffineAddress& word, bool is_signed) const {
    Value value = scaled(word, 1, kWord);
    const __int128 least = is_signed ? -static_cast<__int128>(kWordRange / 2) : 0;
    const Interval interval = interval_of(*value);
    const __int128 above = interval.low - least;
    const __int128 rounds =
        above >= 0 ? above / kWordRange : -((-above + kWordRange - 1) / kWordRange);
    const __int128 moved = rounds * kWordRange;
    if (interval.high - moved >= least + static_cast<__int128>(kWordRange)) {
      return std::nullopt;
    }
    value->constant = static_cast<std::int64_t>(value->constant - moved);
    const bool are_small = std::ranges::all_of(value->steps, [](std::int64_t step) {
      return -kLargestStep <= step && step <= kLargestStep;
    });
    return are_small ? value : std::nullopt;
  }

  static Value counted(const AffineAddress& first, const AffineAddress& step) {
    Value value = first;
    return step.is_constant() && add_step(*value, step.constant) ? value : std::nullopt;
  }

  // The second is less than what all parts of the first are multiples of.
  [[nodiscard]] bool have_disjoint_bits(const AffineAddress& first,
                                        const AffineAddress& second) const {
    std::uint64_t bits = static_cast<std::uint64_t>(first.constant);
    for (const std::int64_t factor : first.factors) {
      bits |= static_cast<std::uint64_t>(factor);
    }
    for (const std::int64_t step : first.steps) {
      bits |= static_cast<std::uint64_t>(step);
    }
    const Interval interval = interval_of(second);
    return second.step_count == 0 && interval.low >= 0 &&
           interval.high < (__int128{1} << std::countr_zero(bits));
  }

  static Value of_constants(const AddressNode& node, const AffineAddress& first,
                            const AffineAddress& second) {
    if (!first.is_constant() || !second.is_constant()) {
      return std::nullopt;
    }
    const auto bits = [&](std::int64_t value) {
      return node.bytes == kWord ? static_cast<std::uint32_t>(value)
                                 : static_cast<std::uint64_t>(value);
    };
    if (node.op == AddressOp::kShiftRight) {
      if (second.constant < 0 || second.constant >= 8 * node.bytes) {
        return std::nullopt;
      }
      return node.is_signed
                 ? constant(first.constant >> second.constant, node.bytes)
                 : constant(static_cast<std::int64_t>(bits(first.constant) >> second.constant),
                            node.bytes);
    }
    return constant(node.op == AddressOp::kAnd ? first.constant & second.constant
                                               : first.constant | second.constant,
                    node.bytes);
  }

  const LaunchNumbers& launch_;
  std::vector<Value> values_;
};

}  // namespace

ThreadExtents extents_of(const detector::Dim3& block, const detector::Dim3& grid) {
  return {block.x, block.y, block.z, grid.x, grid.y, grid.z};
}

bool AffineAddress::is_constant() const {
  return step_count == 0 && std::ranges::all_of(factors, [](std::int64_t f) { return f == 0; });
}

std::vector<std::optional<AffineAddress>> evaluate(std::span<const ptx::AddressNode> nodes,
                                                   const LaunchNumbers& launch) {
  return Evaluation(launch).run(nodes);
}

}  // namespace barracuda::session
