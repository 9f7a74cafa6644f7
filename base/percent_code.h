// Any text as one word of a line: blanks, control characters, percent signs and whatever else
// separates words there are written as %20.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace barracuda {

std::string percent_encoded(std::string_view text, std::string_view separators = {});
// Nothing where a percent sign is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace barracuda
