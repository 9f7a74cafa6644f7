// Several PTX translation units into one, as nvlink would: extern declarations meet their
// definitions, names local to a unit are renamed where they clash, the highest .version and .target
// win, .file numbers and debug labels are kept apart. Errors: a symbol defined twice or never.
#pragma once

#include <vector>

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

Expected<Module> link(std::vector<Module> units);

}  // namespace barracuda::ptx
