#include "base/weak_values.h"

#include <algorithm>

#include "base/number_text.h"

namespace barracuda {

std::optional<double> parse_probability(std::string_view text) {
  const bool is_decimal = text.find_first_not_of("0123456789.") == text.npos;
  const auto value = is_decimal ? parse_number<double>(text) : std::nullopt;
  return value && *value <= 1 ? value : std::nullopt;
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
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto first = parse_number<std::uint64_t>(text.substr(0, comma)).value_or(0);
  const auto second =
      parse_number<std::uint64_t>(text.substr(std::min(comma + 1, text.size()))).value_or(0);
  return first != 0 && second != 0 ? std::optional(std::array{first, second}) : std::nullopt;
}

}  // namespace barracuda
