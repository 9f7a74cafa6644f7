#include "base/kernel_pattern.h"

#include <algorithm>
#include <regex>

namespace barracuda {
namespace {

struct Key {
  std::string_view name;
  KernelPattern::Kind kind;
};

constexpr Key kKeys[] = {
    {.name = "kne", .kind = KernelPattern::Kind::kExact},
    {.name = "kernel_name", .kind = KernelPattern::Kind::kExact},
    {.name = "kns", .kind = KernelPattern::Kind::kPart},
    {.name = "kernel_substring", .kind = KernelPattern::Kind::kPart},
    {.name = "regex", .kind = KernelPattern::Kind::kRegex},
};

// The name of an instance may hold an equals sign itself.
bool looks_like_a_key(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-") == std::string_view::npos;
}

Expected<void> check_regex(const std::string& pattern) {
  try {
    [[maybe_unused]] const std::regex compiled(pattern);
  } catch (const std::regex_error& error) {
    return unexpected(
        {.message = "'" + pattern + "' is not a regular expression: " + error.what()});
  }
  return {};
}

}  // namespace

Expected<KernelPattern> parse_kernel_pattern(std::string_view option) {
  const std::size_t equals = option.find('=');
  const std::string_view word = option.substr(0, equals);
  const auto* const key = std::ranges::find(kKeys, word, &Key::name);
  if (equals == std::string_view::npos || (key == std::end(kKeys) && !looks_like_a_key(word))) {
    return KernelPattern{.text = std::string(option)};
  }
  if (key == std::end(kKeys)) {
    return unexpected({.message = "'" + std::string(word) +
                                  "=' is not kns= (a part of the name), kne= (the whole name) or "
                                  "regex="});
  }
  KernelPattern pattern{.kind = key->kind, .text = std::string(option.substr(equals + 1))};
  if (pattern.text.empty()) {
    return unexpected({.message = "'" + std::string(option) + "' has nothing behind its ="});
  }
  if (pattern.kind == KernelPattern::Kind::kRegex) {
    if (auto checked = check_regex(pattern.text); !checked) {
      return unexpected(std::move(checked).error());
    }
  }
  return pattern;
}

}  // namespace barracuda
