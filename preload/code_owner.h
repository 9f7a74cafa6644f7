// Whose kernels are these: the program's own, or those of a library that it uses (cuBLAS, PyTorch's
// own), which its author can do nothing about.
#pragma once

#include <string>
#include <string_view>

namespace barracuda::preload {

// The file name of the library that an image came with; empty: the program's own. `caller` is who
// loads it: an image in memory that belongs to no file was made while the program ran, mostly of
// the program's source, but some of NVIDIA's libraries make their own that way.
std::string library_of_code(const void* image, const void* caller);

// What can be done about machine code of unknown origin, by the file of who loads it: a clause, or
// empty.
std::string advice_on_code(std::string_view caller_file);
std::string advice_on_code(const void* caller);

}  // namespace barracuda::preload
