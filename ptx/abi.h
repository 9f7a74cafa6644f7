// What a kernel's header promises whoever launches it: where its parameters lie in their buffer,
// and which shapes it takes. ptxas is the authority (tests/unit/ptx/abi_test.cpp asks it).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/module.h"

namespace barracuda::ptx {

// Its type's alignment, or what .align says where that is more: .align never lowers it.
std::uint32_t alignment_of(const Variable& variable);

struct ParameterPlace {
  std::uint32_t offset = 0, size = 0;  // bytes in the parameter buffer

  friend bool operator==(const ParameterPlace&, const ParameterPlace&) = default;
};

struct ParameterLayout {
  std::vector<ParameterPlace> places;
  std::uint64_t bytes = 0;  // up to the end of the last one
};

// Offsets are aligned as such. ptxas aligns addresses in the constant bank, which begins at an odd
// multiple of 32 (sm_80) or 16 (sm_90): there a parameter of a larger .align lies elsewhere.
ParameterLayout parameter_layout(const Function& entry);

struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;

  [[nodiscard]] std::uint64_t volume() const { return std::uint64_t{x} * y * z; }

  friend bool operator==(const Extent&, const Extent&) = default;
};

// Nothing: the header does not say.
struct LaunchBounds {
  std::optional<Extent> max_block;         // .maxntid
  std::optional<Extent> required_block;    // .reqntid
  std::optional<Extent> required_cluster;  // .reqnctapercluster
};

LaunchBounds launch_bounds(const Function& entry);

}  // namespace barracuda::ptx
