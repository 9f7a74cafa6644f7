// Triton, and PyTorch's Inductor with it, keep the PTX of a kernel beside its machine code: a
// folder for each kernel, with NAME.cubin and NAME.ptx.
#pragma once

#include <optional>
#include <string_view>

#include "session/program_image.h"

namespace barracuda::preload {

// By the bytes of the machine code. Looks through the folders that the program's environment names
// now, else the default ones; files that others may write are not believed.
std::optional<session::CodeOrigin> find_in_triton_caches(std::string_view code);

}  // namespace barracuda::preload
