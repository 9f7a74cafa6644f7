// Names in the text of a program.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

namespace barracuda {

inline bool is_part_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// Where the name begins, at `from` or behind it; npos if it stands only in longer ones.
inline std::size_t find_name(std::string_view text, std::string_view name, std::size_t from = 0) {
  for (std::size_t at = text.find(name, from); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_part_of_name(text[at - 1])) &&
        (end == text.size() || !is_part_of_name(text[end]))) {
      return at;
    }
  }
  return text.npos;
}

}  // namespace barracuda
