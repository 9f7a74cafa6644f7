// Tells the program's own source files and functions from those of CUDA's and CCCL's headers, so
// that a finding names a line that its reader wrote.
#pragma once

#include <string_view>

namespace barracuda::report {

bool is_toolkit_header(std::string_view path);

// Where there are no lines: whether a function of the host, demangled, is one of CCCL's.
bool is_toolkit_function(std::string_view function);

}  // namespace barracuda::report
