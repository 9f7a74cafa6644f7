// Names that instrumented PTX, the logger and the host agree on.
#pragma once

#include <cstdint>

namespace barracuda::wire {

// Everything of ours in a PTX module starts with this.
inline constexpr const char kPrefix[] = "__barracuda_";
// The .shared variable that holds a BlockWords; the entry stores it.
inline constexpr const char kBlockWords[] = "__barracuda_block";
inline constexpr std::uint32_t kBlockWordsBytes = 32;
// The .extern .shared array that begins where a block's dynamic memory does.
inline constexpr const char kDynamicShared[] = "__barracuda_dynamic";
// What the emulated device alone has: the hook of textures and surfaces.
inline constexpr const char kTexelsHook[] = "__barracuda_texels";
// The hidden last parameter of an instrumented entry NAME is NAME + this.
inline constexpr const char kHiddenParameterSuffix[] = "___barracuda_launch";

}  // namespace barracuda::wire
