// The names in .target.
#pragma once

#include <cstdint>
#include <string_view>

namespace barracuda::ptx {

// "sm_90a" → 90; 0 where it names no architecture ("debug").
std::uint32_t architecture_of(std::string_view target);

}  // namespace barracuda::ptx
