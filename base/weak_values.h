// The values of the options that make memory weak, which are more than a number or a choice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace barracuda {

// 0 to 1, in decimals.
std::optional<double> parse_probability(std::string_view text);

struct WeakSpaces {
  bool global = false, shared = false;
};

// "global", "shared", or both with a comma.
std::optional<WeakSpaces> parse_spaces(std::string_view text);

// Two numbers with a comma, each at least 1.
std::optional<std::array<std::uint64_t, 2>> parse_ages(std::string_view text);

}  // namespace barracuda
