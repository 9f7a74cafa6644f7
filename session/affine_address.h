// The addresses of a kernel's accesses at one launch: sums of multiples of the numbers of thread
// and block, and of counters of loops. Exact, modulo the size of the registers, or not known.
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

// %tid.x, .y and .z, then %ctaid.x, .y and .z.
inline constexpr std::size_t kThreadNumbers = 6;
using ThreadExtents = std::array<std::uint32_t, kThreadNumbers>;

ThreadExtents extents_of(const detector::Dim3& block, const detector::Dim3& grid);

struct AffineAddress {
  std::int64_t constant = 0;
  // For each of the thread's numbers; 0 for those that are always 0.
  std::array<std::int64_t, kThreadNumbers> factors{};
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

// By node; nothing for those that are no such sum.
std::vector<std::optional<AffineAddress>> evaluate(std::span<const ptx::AddressNode> nodes,
                                                   const LaunchNumbers& launch);

}  // namespace barracuda::session
