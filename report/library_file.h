// Tells a library that a program uses (cuBLAS, PyTorch's own), whose kernels its author can do
// nothing about, from a file of the program's own.
#pragma once

#include <string>
#include <string_view>

namespace barracuda::report {

// The file name of the library that a fat binary came with; empty: the program's own. By the file
// that it lies in (empty: none, it was made in memory) and that of who loads it: what belongs to no
// file was made of the program's source, mostly, but some of NVIDIA's libraries make their own so.
std::string library_of_files(std::string_view image_file, std::string_view caller_file);

}  // namespace barracuda::report
