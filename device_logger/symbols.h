// Names that instrumented PTX, the logger and the host agree on.
#pragma once

namespace barracuda::wire {

// Everything of ours in a PTX module starts with this.
inline constexpr const char kPrefix[] = "__barracuda_";
// 8-byte .shared word that holds the launch descriptor's address; the entry stores it.
inline constexpr const char kDescriptorWord[] = "__barracuda_descriptor";
// The hidden last parameter of an instrumented entry NAME is NAME + this.
inline constexpr const char kHiddenParameterSuffix[] = "___barracuda_launch";

}  // namespace barracuda::wire
