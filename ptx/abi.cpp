#include "ptx/abi.h"

#include <algorithm>
#include <charconv>

#include "base/align.h"

namespace barracuda::ptx {
namespace {

// The numbers of "32, 4"; what is missing is 1.
Extent parse_extent(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  Extent extent;
  for (std::uint32_t* const number : {&extent.x, &extent.y, &extent.z}) {
    text.remove_prefix(std::min(text.find_first_of(kDigits), text.size()));
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  }
  return extent;
}

}  // namespace

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

LaunchBounds launch_bounds(const Function& entry) {
  LaunchBounds bounds;
  for (const std::string_view attribute : entry.attributes) {
    const std::string_view name =
        attribute.substr(0, attribute.find_first_of(" \t\r\n/0123456789"));
    const std::string_view numbers = attribute.substr(name.size());
    if (name == ".maxntid") {
      bounds.max_block = parse_extent(numbers);
    } else if (name == ".reqntid") {
      bounds.required_block = parse_extent(numbers);
    } else if (name == ".reqnctapercluster") {
      bounds.required_cluster = parse_extent(numbers);
    }
  }
  return bounds;
}

}  // namespace barracuda::ptx
