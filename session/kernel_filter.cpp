#include "session/kernel_filter.h"

#include "report/symbol_name.h"

namespace barracuda::session {

Expected<std::optional<KernelFilter::Pattern>> KernelFilter::parse_one(const std::string& option) {
  if (option.empty()) {
    return std::nullopt;
  }
  TRY(KernelPattern pattern, parse_kernel_pattern(option));
  Pattern made{.pattern = std::move(pattern), .regex = {}};
  if (made.pattern.kind == KernelPattern::Kind::kRegex) {
    made.regex = std::regex(made.pattern.text);
  }
  return made;
}

Expected<KernelFilter> KernelFilter::parse(const Options& options) {
  KernelFilter filter;
  TRY(filter.only_, parse_one(options.kernel_name));
  TRY(filter.exclude_, parse_one(options.kernel_name_exclude));
  return filter;
}

bool KernelFilter::Pattern::matches(const std::string& mangled, const std::string& name) const {
  switch (pattern.kind) {
    case KernelPattern::Kind::kExact:
      return pattern.text == mangled || pattern.text == name ||
             pattern.text == report::without_parameters(name);
    case KernelPattern::Kind::kPart:
      return mangled.find(pattern.text) != std::string::npos ||
             name.find(pattern.text) != std::string::npos;
    case KernelPattern::Kind::kRegex:
      return std::regex_search(name, regex);
  }
  return false;
}

bool KernelFilter::matches(const std::string& mangled_name) const {
  if (!only_ && !exclude_) {
    return true;
  }
  const std::string name = report::demangle(mangled_name);
  return (!only_ || only_->matches(mangled_name, name)) &&
         (!exclude_ || !exclude_->matches(mangled_name, name));
}

}  // namespace barracuda::session
