// What a kernel's header promises whoever launches it: where its parameters lie in their buffer.
// ptxas is the authority (tests/unit/ptx/abi_test.cpp asks it).
#pragma once

#include <cstdint>
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

// The most bytes of parameters that an entry of the module can have.
std::uint64_t parameter_limit(const Module& module);

}  // namespace barracuda::ptx
