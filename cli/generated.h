// Texts that are made from the command line: a manual page, and completion for shells. All of them
// come from the option table and from the help of each command.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"

namespace barracuda::cli {

// `kind`: man, bash or zsh.
Expected<std::string> generated(std::string_view kind);

}  // namespace barracuda::cli
