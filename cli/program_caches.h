// The caches of compiled kernels that libraries keep. Runs without the tool leave machine code in
// them whose PTX is not known. Under `barracuda run` these libraries therefore keep their caches in
// folders of the tool's own, beside what is known of the code in them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/options.h"

namespace barracuda::cli {

// What is to be set, as NAME=value, given the program's environment. Nothing where the option says
// so, nothing is to be kept, or others may write where it would be kept. Makes the folders.
std::vector<std::string> own_program_caches(const Options& options,
                                            std::span<const std::string> environment);

}  // namespace barracuda::cli
