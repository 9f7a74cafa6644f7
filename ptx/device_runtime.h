// Functions that the compiler leaves to NVIDIA's device runtime (libcudadevrt.a), as a unit to link
// with a program's own. There is PTX of those that wait for a grid.
#pragma once

#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// Whether a text may need them; a look at the letters only.
bool may_need_device_runtime(std::string_view text);

// Takes libcudadevrt from the units of a program (PTX of it is in what nvcc -rdc=true links, if
// there is no machine code beside), and adds the unit where one declares such a function and none
// defines it.
Expected<void> add_device_runtime(std::vector<Module>& units);

}  // namespace barracuda::ptx
