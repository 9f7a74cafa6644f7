// The shared CUDA runtimes that the emulated device stands in for. The names are also those of the
// version nodes of their functions.
#pragma once

#include <array>

namespace barracuda::fatbin {

inline constexpr std::array kRuntimeLibraries = {"libcudart.so.13", "libcudart.so.12",
                                                 "libcudart.so.11.0"};

}  // namespace barracuda::fatbin
