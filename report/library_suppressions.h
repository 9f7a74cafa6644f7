// The suppressions that come with the tool: what CUDA's own libraries do that would be a race in
// anybody else's code, each with its reason.
#pragma once

#include <string>

#include "base/expected.h"
#include "report/suppression.h"

namespace barracuda::report {

// share/barracuda/library.supp, which lies beside the folder of the library or the command that
// this is part of; empty where that has been moved away from it.
std::string library_suppressions_file();

// What stands in that file, or where it is missing, what stood in it when the tool was built.
Expected<Suppressions> library_suppressions();

}  // namespace barracuda::report
