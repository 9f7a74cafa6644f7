// The names that each of CUDA's libraries exports, sorted. constexpr: they are needed before
// constructors run.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace barracuda::emulator {

// The rows of cudart_names.def with a 1 in a column, and then those of driver_names.def.
#define BARRACUDA_NAME_0(x)
#define BARRACUDA_NAME_1(x) std::string_view(#x),
#define NAME(x, in_13, in_12, in_11) BARRACUDA_NAME_##in_13(x)
inline constexpr std::array kCudart13Names = {
#include "emulator/cudart_names.def"
};
#undef NAME
#define NAME(x, in_13, in_12, in_11) BARRACUDA_NAME_##in_12(x)
inline constexpr std::array kCudart12Names = {
#include "emulator/cudart_names.def"
};
#undef NAME
#define NAME(x, in_13, in_12, in_11) BARRACUDA_NAME_##in_11(x)
inline constexpr std::array kCudart11Names = {
#include "emulator/cudart_names.def"
};
#undef NAME
#define NAME(x) BARRACUDA_NAME_1(x)
inline constexpr std::array kCudaNames = {
#include "emulator/driver_names.def"
};
#undef NAME
#undef BARRACUDA_NAME_0
#undef BARRACUDA_NAME_1

}  // namespace barracuda::emulator
