// Folds lines to the width of where they are read, for every text that people read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace barracuda::report {

// How far the rest of a broken line stands to the right of its beginning.
inline constexpr std::size_t kHang = 4;

// The columns that a line takes: one a letter, none for what only changes its colour.
std::size_t columns_of(std::string_view line);

// `text` with each line that is wider than `columns` broken: at a blank if there is one, else
// behind a comma, a slash or a colon, else anywhere between two letters. 0: nothing is broken.
std::string folded(std::string_view text, std::size_t columns, std::size_t hang = kHang);

}  // namespace barracuda::report
