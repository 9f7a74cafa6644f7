// Whether the addresses of the lanes of a record follow a pattern that fits its header. One source
// for the GPU and for the host (write_record.h says how).
#pragma once

#include <cstdint>

#include "device_logger/record.h"

#ifdef __CUDACC__
#  define BARRACUDA_LOGGER __device__ __forceinline__
#else
#  define BARRACUDA_LOGGER inline
#endif

namespace barracuda::wire {

// base + (l % w) * stride0 + (l / w) * stride1, as in record.h.
struct Pattern {
  bool found = false;
  bool may_overlap = false;  // some lanes may touch the same bytes
  std::uint32_t width_log2 = 5;
  std::int32_t stride0 = 0, stride1 = 0;
  std::uint64_t base = 0;
};

// Of a word that is not 0.
BARRACUDA_LOGGER std::uint32_t lowest_bit(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(word))) - 1;
#else
  return static_cast<std::uint32_t>(__builtin_ctz(word));
#endif
}

BARRACUDA_LOGGER std::uint32_t highest_bit(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(31 - __clz(static_cast<int>(word)));
#else
  return static_cast<std::uint32_t>(31 - __builtin_clz(word));
#endif
}

BARRACUDA_LOGGER bool is_int32(std::int64_t value) {
  return value == static_cast<std::int32_t>(value);
}

BARRACUDA_LOGGER bool is_int16(std::int32_t value) {
  return value == static_cast<std::int16_t>(value);
}

// The base stands for lane 0, which may be inactive and lie below its space: then there is no
// pattern.
BARRACUDA_LOGGER bool same_space(std::uint64_t left, std::uint64_t right) {
  return left >> kSpaceShift == right >> kSpaceShift;
}

BARRACUDA_LOGGER std::uint64_t scaled(std::int32_t stride, std::uint32_t count) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(stride) * count);
}

// delta / lanes, if that is exact and both fit.
BARRACUDA_LOGGER bool stride_of(std::int64_t delta, std::int32_t lanes, std::int32_t& stride) {
  const auto narrow = static_cast<std::int32_t>(delta);
  stride = narrow;
  if (lanes != 1) {
    stride = narrow / lanes;
  }
  return is_int32(delta) && stride * lanes == narrow;
}

// Rows of a power of two of lanes: `breaks` is the first lane that leaves the line of the lanes
// below it.
template <class Lanes>
BARRACUDA_LOGGER Pattern find_rows(const Lanes& lanes, const typename Lanes::Words& addresses,
                                   std::uint64_t first, std::int32_t stride0,
                                   std::uint32_t breaks) {
  const std::uint32_t previous = highest_bit(lanes.mask & ((1U << breaks) - 1));
  // The widest row whose end lies between the two lanes.
  const std::uint32_t shift = highest_bit(previous ^ breaks);
  const std::uint32_t in_row = (1U << shift) - 1;
  const auto columns =
      static_cast<std::int32_t>(breaks & in_row) - static_cast<std::int32_t>(lanes.leader & in_row);
  const auto rows = static_cast<std::int32_t>((breaks >> shift) - (lanes.leader >> shift));
  const auto delta = static_cast<std::int64_t>(lanes.value_at(addresses, breaks) - first);
  std::int32_t stride1 = 0;
  const bool fits =
      stride_of(delta - static_cast<std::int64_t>(columns) * stride0, rows, stride1) &&
      is_int16(stride0);
  const std::uint64_t base =
      first - scaled(stride0, lanes.leader & in_row) - scaled(stride1, lanes.leader >> shift);
  const auto is_elsewhere = [=](std::uint32_t lane, std::uint64_t address) {
    return base + scaled(stride0, lane & in_row) + scaled(stride1, lane >> shift) != address;
  };
  Pattern pattern;
  pattern.found = lanes.none(addresses, is_elsewhere) && fits && same_space(base, first);
  pattern.may_overlap = true;
  pattern.width_log2 = shift;
  pattern.stride0 = stride0;
  pattern.stride1 = stride1;
  pattern.base = base;
  return pattern;
}

// Of tagged addresses. Accesses are naturally aligned and of one size, so two lanes overlap only
// where their addresses are equal.
template <class Lanes>
BARRACUDA_LOGGER Pattern find_pattern(const Lanes& lanes, const typename Lanes::Words& addresses) {
  Pattern pattern;
  const std::uint64_t first = lanes.value_at(addresses, lanes.leader);
  const std::uint32_t rest = lanes.mask & (lanes.mask - 1);
  if (rest == 0) {
    pattern.found = true;
    pattern.base = first;
    return pattern;
  }
  const std::uint32_t next = lowest_bit(rest);
  const auto delta = static_cast<std::int64_t>(lanes.value_at(addresses, next) - first);
  std::int32_t stride = 0;
  if (!stride_of(delta, static_cast<std::int32_t>(next - lanes.leader), stride)) {
    stride = 0;
  }
  const std::uint64_t base = first - scaled(stride, lanes.leader);
  const std::uint32_t off_line =
      lanes.which(addresses, [=](std::uint32_t lane, std::uint64_t address) {
        return base + scaled(stride, lane) != address;
      });
  if (off_line != 0) {
    return find_rows(lanes, addresses, first, stride, lowest_bit(off_line));
  }
  pattern.found = same_space(base, first);
  pattern.may_overlap = stride == 0;
  pattern.base = base;
  if (is_int16(stride)) {
    pattern.stride0 = stride;
  } else {
    pattern.width_log2 = 0;
    pattern.stride1 = stride;
  }
  return pattern;
}

}  // namespace barracuda::wire
