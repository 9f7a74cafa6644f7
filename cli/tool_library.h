// libbarracuda.so, which lies beside this command, and what has to be loaded before a file.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "fatbin/host_image.h"

namespace barracuda::cli {

Expected<std::string> find_tool_library();

// The runtimes of sanitizers that a file is linked with: they have to be loaded before a library
// that needs them.
std::vector<std::string> sanitizer_runtimes_of(const fatbin::HostImage& image);
std::vector<std::string> sanitizer_runtimes_of(const std::string& file);

}  // namespace barracuda::cli
