// The header of an entry with one parameter more.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace barracuda::ptx {

// `header`: as it stands in front of the body. The hidden parameter has so many bytes.
std::string with_hidden_parameter(std::string_view header, std::string_view entry,
                                  std::size_t bytes);

}  // namespace barracuda::ptx
