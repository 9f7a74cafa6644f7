// Tells the program's own source files from CUDA's and CCCL's headers, so that a finding names a
// line that its reader wrote.
#pragma once

#include <string_view>

namespace barracuda::report {

bool is_toolkit_header(std::string_view path);

}  // namespace barracuda::report
