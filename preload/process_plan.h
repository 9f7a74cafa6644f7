// The plan that the process was given (option weakness).
#pragma once

#include <string>

namespace barracuda::preload {

// Which of its decisions were for another program; asked at the process's end. Empty: none.
std::string plan_misfit();

}  // namespace barracuda::preload
