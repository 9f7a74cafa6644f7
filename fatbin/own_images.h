// What this process's own executable registers with its CUDA runtime, whether that is linked
// statically or not: fat binaries in memory, ready for read().
#pragma once

#include <vector>

namespace barracuda::fatbin {

// The wrappers in the order of the file. Empty where the executable cannot be read.
std::vector<const void*> own_images();

}  // namespace barracuda::fatbin
