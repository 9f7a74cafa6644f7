// Numbers that stand in text: without blanks, and with a sign only if they are negative. What does
// not fit into the type is none.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace barracuda {

// What the text begins with, taken off it.
template <typename Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number number{};
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), text.data() + text.size(), number);
  } else {
    read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  }
  if (read.ec != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

// What the whole text is.
template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  const std::optional<Number> number = take_number<Number>(text, base);
  return text.empty() ? number : std::nullopt;
}

// The same, or hexadecimal behind "0x".
template <typename Number>
std::optional<Number> parse_prefixed_number(std::string_view text) {
  constexpr int kHexadecimal = 16;
  return text.starts_with("0x") ? parse_number<Number>(text.substr(2), kHexadecimal)
                                : parse_number<Number>(text);
}

}  // namespace barracuda
