#include "base/weak_values.h"

#include <algorithm>
#include <charconv>

namespace barracuda {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto result = std::from_chars(begin, end, value);
  return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

std::optional<double> parse_probability(std::string_view text) {
  double value = 0;
  const bool is_decimal = text.find_first_not_of("0123456789.") == text.npos;
  if (!is_decimal || !read_number(text, value) || value > 1) {
    return std::nullopt;
  }
  return value;
}

std::optional<WeakSpaces> parse_spaces(std::string_view text) {
  WeakSpaces spaces;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    bool& space = word == "global" ? spaces.global : spaces.shared;
    if ((word != "global" && word != "shared") || space) {
      return std::nullopt;
    }
    space = true;
    is_last = end == text.size();
    text.remove_prefix(is_last ? end : end + 1);
  }
  return spaces;
}

std::optional<std::array<std::uint64_t, 2>> parse_ages(std::string_view text) {
  std::array<std::uint64_t, 2> ages{};
  const std::size_t comma = text.find(',');
  const bool are_ages = comma != text.npos && read_number(text.substr(0, comma), ages[0]) &&
                        read_number(text.substr(comma + 1), ages[1]) && ages[0] != 0 &&
                        ages[1] != 0;
  return are_ages ? std::optional(ages) : std::nullopt;
}

}  // namespace barracuda
