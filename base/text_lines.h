// A text line by line: without the ends of the lines, numbered from 1. A line end that is the last
// character begins no further line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace barracuda {

class TextLines {
 public:
  // The text outlives this.
  explicit TextLines(std::string_view text) : rest_(text) {}

  // None after the last.
  std::optional<std::string_view> next() {
    if (rest_.empty()) {
      return std::nullopt;
    }
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    has_end_ = line.size() < rest_.size();
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    ++number_;
    return line;
  }

  // Of the line that next() gave last.
  [[nodiscard]] std::uint32_t number() const { return number_; }

  // False of a last line that is cut off, or whose end was left out.
  [[nodiscard]] bool has_end() const { return has_end_; }

 private:
  std::string_view rest_;
  std::uint32_t number_ = 0;
  bool has_end_ = false;
};

}  // namespace barracuda
