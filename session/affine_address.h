// The addresses of a kernel's accesses at one launch: sums of multiples of the numbers of thread
// and block, and of counters of loops. Exact, modulo the size of the registers, or not known.
//
// Where the code masks or shifts an index (a butterfly, a bitonic sort), the bits on each side of
// the cut are a number of their own. Together they may then be a little more than the number's last
// value: threads that there are not, which no proof for all of them minds.
//
// One thing is assumed: a counter does not run through the whole range of its 32 bits, or of 64,
// and come back to an array that it has left (docs/decisions/device-filter.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host_detector/launch.h"
#include "ptx/abi.h"
#include "ptx/address_form.h"

namespace barracuda::session {

// How many values has each of %tid.x, .y and .z, then %ctaid.x, .y and .z.
inline constexpr std::size_t kThreadNumbers = 6;
using ThreadExtents = std::array<std::uint32_t, kThreadNumbers>;

ThreadExtents extents_of(const detector::Dim3& block, const detector::Dim3& grid);

// The same of the parts of these numbers. Those behind the last are 0.
inline constexpr std::size_t kMostParts = 12;
using PartExtents = std::array<std::uint32_t, kMostParts>;

struct AffineAddress {
  std::int64_t constant = 0;
  // For each part; 0 for those that are always 0.
  std::array<std::int64_t, kMostParts> factors{};
  // Each may have been added any number of times.
  std::array<std::int64_t, 4> steps{};
  std::uint32_t step_count = 0;

  [[nodiscard]] bool is_constant() const;

  friend bool operator==(const AffineAddress&, const AffineAddress&) = default;
};

// The launch as the code sees it.
struct LaunchNumbers {
  std::span<const ptx::ParameterPlace> parameters;
  std::span<const std::byte> arguments;  // packed
  ThreadExtents extents{};
};

struct AffineAddresses {
  PartExtents extents{};
  std::vector<std::optional<AffineAddress>> values;  // by node; nothing if it is no such sum
};

AffineAddresses evaluate(std::span<const ptx::AddressNode> nodes, const LaunchNumbers& launch);

}  // namespace barracuda::session
