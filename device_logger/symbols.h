// Names that instrumented PTX, the logger and the host agree on.
#pragma once

#include <cstdint>

namespace barracuda::wire {

// Everything of ours in a PTX module starts with this.
inline constexpr const char kPrefix[] = "__barracuda_";
// The .shared word that holds the launch descriptor's address; the entry stores it.
inline constexpr const char kDescriptorWord[] = "__barracuda_descriptor";
inline constexpr std::uint32_t kDescriptorWordBytes = 8;
// The hidden last parameter of an instrumented entry NAME is NAME + this.
inline constexpr const char kHiddenParameterSuffix[] = "___barracuda_launch";

}  // namespace barracuda::wire
