#include "session/native_pattern.h"

namespace barracuda::session {

namespace {

std::uint64_t scaled(std::int32_t stride, std::uint32_t count) {
  return static_cast<std::uint64_t>(std::int64_t{stride} * std::int64_t{count});
}

bool is_int16(std::int32_t value) {
  return value == static_cast<std::int16_t>(value);
}

// The base stands for lane 0, which may be inactive and lie below its space.
bool same_space(std::uint64_t left, std::uint64_t right) {
  return left >> wire::kSpaceShift == right >> wire::kSpaceShift;
}

// delta / lanes; false where that is not exact or too large.
bool stride_of(std::uint64_t delta, std::int32_t lanes, std::int32_t& stride) {
  const auto narrow = static_cast<std::int32_t>(delta);
  stride = lanes == 1 ? narrow : narrow / lanes;
  return static_cast<std::int64_t>(delta) == narrow && stride * lanes == narrow;
}

// The active lanes that the pattern does not put where they are.
std::uint32_t off_pattern(const LaneWords& addresses, std::uint32_t mask,
                          const AddressPattern& pattern) {
  const std::uint32_t in_row = (1U << pattern.width_log2) - 1;
  std::uint32_t off = 0;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    const std::uint64_t predicted = pattern.base + scaled(pattern.stride0, lane & in_row) +
                                    scaled(pattern.stride1, lane >> pattern.width_log2);
    off |= static_cast<std::uint32_t>(predicted != addresses[lane]) << lane;
  }
  return off & mask;
}

// Rows of a power of two of lanes: `breaks` is the first lane that leaves the line of the lanes
// below it.
AddressPattern find_rows(const LaneWords& addresses, const ActiveLanes& lanes, std::int32_t stride0,
                         std::uint32_t breaks) {
  const std::uint32_t leader = lanes.leader();
  const std::uint64_t first = addresses[leader];
  const std::uint32_t below = lanes.mask & ((1U << breaks) - 1);
  const auto previous = static_cast<std::uint32_t>(31 - std::countl_zero(below));
  AddressPattern pattern;
  pattern.may_overlap = true;
  // The widest row whose end lies between the two lanes.
  pattern.width_log2 = static_cast<std::uint32_t>(31 - std::countl_zero(previous ^ breaks));
  const std::uint32_t in_row = (1U << pattern.width_log2) - 1;
  const auto columns =
      static_cast<std::int32_t>(breaks & in_row) - static_cast<std::int32_t>(leader & in_row);
  const auto rows =
      static_cast<std::int32_t>((breaks >> pattern.width_log2) - (leader >> pattern.width_log2));
  const auto across = static_cast<std::uint64_t>(std::int64_t{stride0} * columns);
  const bool fits =
      stride_of(addresses[breaks] - first - across, rows, pattern.stride1) && is_int16(stride0);
  pattern.stride0 = stride0;
  pattern.base = first - scaled(stride0, leader & in_row) -
                 scaled(pattern.stride1, leader >> pattern.width_log2);
  pattern.found =
      fits && same_space(pattern.base, first) && off_pattern(addresses, lanes.mask, pattern) == 0;
  return pattern;
}

}  // namespace

AddressPattern find_pattern(const LaneWords& addresses, const ActiveLanes& lanes) {
  const std::uint32_t leader = lanes.leader();
  const std::uint64_t first = addresses[leader];
  AddressPattern pattern;
  pattern.base = first;
  const std::uint32_t rest = lanes.mask & (lanes.mask - 1);
  if (rest == 0) {
    pattern.found = true;
    return pattern;
  }
  const auto next = static_cast<std::uint32_t>(std::countr_zero(rest));
  std::int32_t stride = 0;
  if (!stride_of(addresses[next] - first, static_cast<std::int32_t>(next - leader), stride)) {
    stride = 0;
  }
  pattern.stride0 = stride;
  pattern.base = first - scaled(stride, leader);
  const std::uint32_t off_line = off_pattern(addresses, lanes.mask, pattern);
  if (off_line != 0) {
    return find_rows(addresses, lanes, stride,
                     static_cast<std::uint32_t>(std::countr_zero(off_line)));
  }
  pattern.found = same_space(pattern.base, first);
  pattern.may_overlap = stride == 0;
  if (!is_int16(stride)) {
    pattern.width_log2 = 0;
    pattern.stride0 = 0;
    pattern.stride1 = stride;
  }
  return pattern;
}

}  // namespace barracuda::session
