// The option strip-paths: the beginning that texts for people leave out of file names.
#pragma once

#include <string>
#include <string_view>

namespace barracuda::report {

// The text with each file name in it shortened. File names are looked for only where a word begins:
// a path in the middle of another is none.
std::string without_prefix(std::string_view text, std::string_view prefix);

}  // namespace barracuda::report
