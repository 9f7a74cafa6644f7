// Which kernels are checked: the options kernel-name and kernel-name-exclude. An exact name is the
// mangled one, or the demangled one with its parameters or without; a part may stand in the mangled
// or the demangled name; a regular expression is searched for in the demangled name.
#pragma once

#include <optional>
#include <regex>
#include <string>

#include "base/expected.h"
#include "base/kernel_pattern.h"
#include "base/options.h"

namespace barracuda::session {

class KernelFilter {
 public:
  // Everything matches.
  KernelFilter() = default;
  // Errors: an option that parse_kernel_pattern does not take.
  static Expected<KernelFilter> parse(const Options& options);

  [[nodiscard]] bool matches(const std::string& mangled_name) const;

 private:
  struct Pattern {
    KernelPattern pattern;
    std::regex regex;

    [[nodiscard]] bool matches(const std::string& mangled, const std::string& name) const;
  };

  static Expected<std::optional<Pattern>> parse_one(const std::string& option);

  std::optional<Pattern> only_;     // none: all
  std::optional<Pattern> exclude_;  // none: none
};

}  // namespace barracuda::session
