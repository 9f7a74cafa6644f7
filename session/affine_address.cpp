#include "session/affine_address.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

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
  for (std::size_t i = 0; i < kMostParts; ++i) {
    sum.factors.at(i) = plus(first.factors.at(i), second.factors.at(i));
  }
  for (std::uint32_t i = 0; i < second.step_count; ++i) {
    if (!add_step(sum, second.steps.at(i))) {
      return std::nullopt;
    }
  }
  return sum;
}

// Some bits of one of the thread's numbers, from `shift` on.
struct NumberPart {
  std::size_t number = 0;
  std::uint32_t shift = 0;
  std::uint32_t extent = 1;
};

// Where the thread's numbers are cut: by number, bit i is set if a part begins at bit i.
using Cuts = std::array<std::uint32_t, kThreadNumbers>;

std::vector<NumberPart> parts_of(const ThreadExtents& extents, const Cuts& cuts) {
  std::vector<NumberPart> parts;
  for (std::size_t number = 0; number < kThreadNumbers; ++number) {
    const std::uint32_t last = extents.at(number) - 1;
    std::uint32_t begin = 0;
    const auto add = [&](std::uint32_t end) {
      const std::uint32_t values = (last >> begin) + 1;
      const std::uint32_t most = end - begin < 32 ? 1U << (end - begin) : values;
      parts.push_back({.number = number, .shift = begin, .extent = std::min(values, most)});
      begin = end;
    };
    for (std::uint32_t rest = cuts.at(number); rest != 0; rest &= rest - 1) {
      add(static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
    add(32 + begin);
  }
  return parts;
}

// Evaluates one node after the other: operands come first.
class Evaluation {
 public:
  Evaluation(const LaunchNumbers& launch, std::span<const NumberPart> parts, const Cuts& cuts)
      : launch_(launch), parts_(parts), cuts_(cuts) {
    ASSERT(parts.size() <= kMostParts);
  }

  // With the cuts that some node would need as well.
  [[nodiscard]] const Cuts& wanted_cuts() const { return cuts_; }

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

  Value combined(const AddressNode& node, const AffineAddress& first, const AffineAddress& second) {
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
        return second.is_constant() && second.constant >= 0 &&
                       second.constant < std::int64_t{8} * node.bytes
                   ? scaled(first, static_cast<std::int64_t>(std::uint64_t{1} << second.constant),
                            node.bytes)
                   : std::nullopt;
      case AddressOp::kShiftRight:
        return first.is_constant() || !second.is_constant()
                   ? of_constants(node, first, second)
                   : shifted_right(node, first, second.constant);
      case AddressOp::kAnd:
        return first.is_constant() == second.is_constant() ? of_constants(node, first, second)
               : first.is_constant()                       ? masked(node, second, first.constant)
                                                           : masked(node, first, second.constant);
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
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].number == which && parts_[i].extent > 1) {
        value.factors.at(i) = std::int64_t{1} << parts_[i].shift;
      }
    }
    return value;
  }

  struct Interval {
    __int128 low = 0, high = 0;
  };

  // Without what counters add.
  [[nodiscard]] Interval interval_of(const AffineAddress& value) const {
    Interval interval{.low = value.constant, .high = value.constant};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const __int128 last = __int128{value.factors.at(i)} * (parts_[i].extent - 1);
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

  // What the value is modulo 2^bits, if that is a sum: the parts that are no multiples of it make
  // less than it together. Where one that is cut in two would do, that is asked for.
  Value low_bits(const AffineAddress& value, std::uint32_t bits) {
    ASSERT(bits > 0 && bits < 32);
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    const auto low = [mask](std::int64_t number) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) & mask);
    };
    if (std::ranges::any_of(value.steps, [&](std::int64_t step) { return low(step) != 0; })) {
      return std::nullopt;
    }
    AffineAddress rest{.constant = low(value.constant)};
    std::ranges::transform(value.factors, rest.factors.begin(), low);
    if (interval_of(rest).high <= static_cast<__int128>(mask)) {
      return rest;
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::int64_t factor = rest.factors.at(i);
      const std::uint32_t at =
          factor == 0 ? 0
                      : bits - static_cast<std::uint32_t>(std::countr_zero(std::uint64_t(factor)));
      if (at != 0 && (parts_[i].extent - 1) >> at != 0) {
        cuts_.at(parts_[i].number) |= 1U << (parts_[i].shift + at);
      }
    }
    return std::nullopt;
  }

  Value masked(const AddressNode& node, const AffineAddress& value, std::int64_t mask) {
    const std::uint64_t set =
        node.bytes == kWord ? static_cast<std::uint32_t>(mask) : static_cast<std::uint64_t>(mask);
    const std::uint64_t clear =
        node.bytes == kWord ? static_cast<std::uint32_t>(~mask) : static_cast<std::uint64_t>(~mask);
    const auto is_low = [](std::uint64_t bits) {
      return bits != 0 && bits < std::uint64_t{1} << 31 && std::has_single_bit(bits + 1);
    };
    if (set == 0) {
      return AffineAddress{};
    }
    if (is_low(set)) {
      return low_bits(value, static_cast<std::uint32_t>(std::popcount(set)));
    }
    return is_low(clear) ? without_low_bits(value, static_cast<std::uint32_t>(std::popcount(clear)),
                                            node.bytes)
                         : std::nullopt;
  }

  Value without_low_bits(const AffineAddress& value, std::uint32_t bits, std::uint32_t bytes) {
    const Value low = low_bits(value, bits);
    return low ? sum_of(value, *scaled(*low, -1, bytes), bytes) : std::nullopt;
  }

  // The number itself must be known, and not only modulo 2^32: widened() gives that.
  Value shifted_right(const AddressNode& node, const AffineAddress& value, std::int64_t by) {
    constexpr __int128 kFar = __int128{1} << 62;
    const Value exact = node.bytes == kWord ? widened(value, node.is_signed) : value;
    if (!exact || exact->step_count != 0 || by < 0 || by > 31) {
      return std::nullopt;
    }
    const Interval interval = interval_of(*exact);
    if (interval.low < (node.is_signed ? -kFar : 0) || interval.high > kFar) {
      return std::nullopt;
    }
    Value high = by == 0 ? exact : without_low_bits(*exact, static_cast<std::uint32_t>(by), 8);
    if (high) {
      high->constant >>= by;
      for (std::int64_t& factor : high->factors) {
        factor >>= by;
      }
    }
    return high;
  }

  static Value counted(const AffineAddress& first, const AffineAddress& step) {
    Value value = first;
    return step.is_constant() && add_step(*value, step.constant) ? value : std::nullopt;
  }

  // The second is less than what all parts of the first are multiples of.
  [[nodiscard]] bool have_disjoint_bits(const AffineAddress& first,
                                        const AffineAddress& second) const {
    auto bits = static_cast<std::uint64_t>(first.constant);
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
      if (second.constant < 0 || second.constant >= std::int64_t{8} * node.bytes) {
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
  const std::span<const NumberPart> parts_;
  Cuts cuts_;
  std::vector<Value> values_;
};

}  // namespace

ThreadExtents extents_of(const detector::Dim3& block, const detector::Dim3& grid) {
  return {block.x, block.y, block.z, grid.x, grid.y, grid.z};
}

bool AffineAddress::is_constant() const {
  return step_count == 0 && std::ranges::all_of(factors, [](std::int64_t f) { return f == 0; });
}

// What is not known for want of a cut is evaluated once more with it, as long as there is room.
AffineAddresses evaluate(std::span<const ptx::AddressNode> nodes, const LaunchNumbers& launch) {
  Cuts cuts{};
  AffineAddresses addresses;
  for (std::vector<NumberPart> parts = parts_of(launch.extents, cuts);
       parts.size() <= kMostParts;) {
    Evaluation evaluation(launch, parts, cuts);
    addresses = {.values = evaluation.run(nodes)};
    std::ranges::transform(parts, addresses.extents.begin(), &NumberPart::extent);
    if (evaluation.wanted_cuts() == cuts) {
      break;
    }
    cuts = evaluation.wanted_cuts();
    parts = parts_of(launch.extents, cuts);
  }
  return addresses;
}

}  // namespace barracuda::session
