// The text of a statement on one line, as messages quote it: calls are written over several.
#pragma once

#include <string>
#include <string_view>

namespace barracuda::emulator {

std::string statement_line(std::string_view text);

}  // namespace barracuda::emulator
