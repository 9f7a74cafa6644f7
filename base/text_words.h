// A line of text word by word, and foreign text in a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace barracuda {

inline constexpr std::string_view kBlanks = " \t\r";

// The first word of the rest, taken off it; empty at its end.
inline std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

// Its beginning, if it is long.
inline std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  return "'" + std::string(text.substr(0, kLongest)) + "'";
}

}  // namespace barracuda
