// The special registers of PTX ISA 9.0: names that are read-only registers everywhere.
#pragma once

#include <string_view>

namespace barracuda::ptx {

// `name` without component: "%tid", "%clock64".
bool is_special_register(std::string_view name);

}  // namespace barracuda::ptx
