// The one shared variable of Triton's kernels, by which its compiler hands values from thread to
// thread: what lies where in it is the compiler's, and no variable of the program's.
#pragma once

#include <string_view>

namespace barracuda::ptx {

inline constexpr std::string_view kTritonMemory = "global_smem";

}  // namespace barracuda::ptx
