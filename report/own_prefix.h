// What is installed beside the library or the command that this code is in.
#pragma once

#include <string>
#include <string_view>

namespace barracuda::report {

// The file of that name below the folder in which bin/ and lib/ lie; empty if there is none.
std::string file_in_prefix(std::string_view name);

}  // namespace barracuda::report
