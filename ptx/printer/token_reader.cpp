#include "ptx/printer/token_reader.h"

#include <algorithm>
#include <cstddef>

#include "ptx/parser/cursor.h"

namespace barracuda::ptx {

void TokenReader::skip_space() {
  while (!rest_.empty()) {
    std::size_t skipped = 0;
    if (character::is(rest_[0], character::kSpace)) {
      skipped = 1;
    } else if (rest_.starts_with("//")) {
      skipped = rest_.find('\n');
    } else if (rest_.starts_with("/*")) {
      const std::size_t close = rest_.find("*/", 2);
      skipped = close == std::string_view::npos ? close : close + 2;
    } else {
      return;
    }
    rest_.remove_prefix(std::min(skipped, rest_.size()));
  }
}

std::string_view TokenReader::next() {
  skip_space();
  if (rest_.empty()) {
    return {};
  }
  constexpr auto kWordStart = character::kNameStart | character::kName;
  std::size_t length = 1;
  if (rest_[0] == '"') {
    while (length < rest_.size() && rest_[length] != '"') {
      length += rest_[length] == '\\' ? 2 : 1;
    }
    length = std::min(length + 1, rest_.size());
  } else if (character::is(rest_[0], kWordStart) || rest_[0] == '.') {
    while (length < rest_.size() &&
           (character::is(rest_[length], character::kName) || rest_[length] == '.')) {
      ++length;
    }
  }
  const std::string_view token = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return token;
}

}  // namespace barracuda::ptx
