// Where the tool keeps what later runs need again: the folder of jit-cache. Empty where nothing is
// to be kept, by the options or by CUDA's own variables.
#pragma once

#include <string>

#include "base/options.h"

namespace barracuda {

std::string cache_folder(const Options& options);

// The user's own, and nobody else may write there.
bool is_private_folder(const std::string& folder);

}  // namespace barracuda
