// What the options kernel-name and kernel-name-exclude say, compute-sanitizer's words included:
// "kns=part" (kernel_substring=), "kne=name" (kernel_name=), "regex=…"; anything else is the exact
// name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/expected.h"

namespace barracuda {

struct KernelPattern {
  enum class Kind : std::uint8_t { kExact, kPart, kRegex };

  Kind kind = Kind::kExact;
  std::string text;
};

// Errors: a key that is none of these, a regular expression that is none.
Expected<KernelPattern> parse_kernel_pattern(std::string_view option);

}  // namespace barracuda
