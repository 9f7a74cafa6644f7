// What `barracuda --version` prints.
#pragma once

#include <string>

namespace barracuda::cli {

// "barracuda 0.1.0", then the commit, then the versions of CUDA: a line each.
std::string version_text();

}  // namespace barracuda::cli
