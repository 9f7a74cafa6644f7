// The hook of textures and surfaces. Only the emulated device has its function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ptx/hooks/hook_call.h"

namespace barracuda::ptx {

// The text that puts a register's low bytes into one of 64 bits.
using WriteNumber =
    std::function<std::string(std::string_view into, const Operand& operand, std::uint32_t bytes)>;

// Once for all sites of the instruction, from the first one, of the smallest texel; else nothing.
std::string write_texels(const PlannedSite& site, const Statement& statement,
                         const WriteNumber& write_number, HookNames& called);

}  // namespace barracuda::ptx
