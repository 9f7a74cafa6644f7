// Text in which some bytes are written as %20, because they would mean something else there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace barracuda {

std::string percent_encoded(std::string_view text,
                            const std::function<bool(unsigned char)>& is_written_out);
// Any text as one word of a line: blanks, control characters, percent signs and whatever else
// separates words there are written out.
std::string percent_encoded(std::string_view text, std::string_view separators = {});
// Nothing where a percent sign is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace barracuda
