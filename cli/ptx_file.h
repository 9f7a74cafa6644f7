// PTX text from a file.
#pragma once

#include <string>

#include "base/expected.h"

namespace barracuda::cli {

// Without the final NUL that a file cut out of a fat binary may still have.
Expected<std::string> read_ptx(const std::string& path);

}  // namespace barracuda::cli
