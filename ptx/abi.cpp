#include "ptx/abi.h"

#include <algorithm>

#include "base/align.h"

namespace barracuda::ptx {

std::uint32_t alignment_of(const Variable& variable) {
  return std::max({variable.align, size_of(variable.type) * variable.vector, std::uint32_t{1}});
}

ParameterLayout parameter_layout(const Function& entry) {
  ParameterLayout layout;
  for (const Variable& parameter : entry.parameters) {
    const std::uint64_t offset = align_up(layout.bytes, alignment_of(parameter));
    layout.places.push_back({.offset = static_cast<std::uint32_t>(offset),
                             .size = static_cast<std::uint32_t>(parameter.size())});
    layout.bytes = offset + parameter.size();
  }
  return layout;
}

std::uint64_t parameter_limit(const Module& module) {
  const bool is_large =
      module.target_arch() >= 70 &&
      (module.version_major > 8 || (module.version_major == 8 && module.version_minor >= 1));
  return is_large ? 32764 : 4096;
}

}  // namespace barracuda::ptx
