// The option kernel-name: which kernels are checked. "regex=…" is searched for in the demangled
// name; anything else is the exact name, mangled, demangled or without its parameters.
#pragma once

#include <optional>
#include <regex>
#include <string>

#include "base/expected.h"

namespace barracuda::session {

class KernelFilter {
 public:
  // Everything matches.
  KernelFilter() = default;
  // Errors: a regular expression that is none.
  static Expected<KernelFilter> parse(const std::string& option);

  [[nodiscard]] bool matches(const std::string& mangled_name) const;

 private:
  std::string exact_;
  std::optional<std::regex> regex_;
};

}  // namespace barracuda::session
