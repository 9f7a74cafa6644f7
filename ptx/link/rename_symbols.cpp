#include "ptx/link/rename_symbols.h"

#include <algorithm>

#include "ptx/parser/cursor.h"

namespace barracuda::ptx {
namespace {

bool is_name_character(char c) {
  return character::is(c, character::kName | character::kNameStart);
}

// The end of the token that starts at `at`: a string, a comment, a name or number, or one
// character.
std::size_t token_end(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  if (text[at] == '"') {
    end = text.find('"', end);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  if (text.substr(at, 2) == "//") {
    return std::min(text.find('\n', at), text.size());
  }
  if (text.substr(at, 2) == "/*") {
    end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (is_name_character(text[at])) {
    while (end < text.size() && is_name_character(text[end])) {
      ++end;
    }
  }
  return end;
}

}  // namespace

std::string rename_symbols(std::string_view text, const Renames& renames, std::string_view kept) {
  std::string renamed;
  renamed.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = token_end(text, at);
    const std::string_view token = text.substr(at, end - at);
    const bool is_modifier = at > 0 && text[at - 1] == '.';
    const auto found =
        is_modifier || token.data() == kept.data() ? renames.end() : renames.find(token);
    renamed += found == renames.end() ? token : std::string_view(found->second);
    at = end;
  }
  return renamed;
}

}  // namespace barracuda::ptx
