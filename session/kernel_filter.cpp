#include "session/kernel_filter.h"

#include <string_view>

#include "report/symbol_name.h"

namespace barracuda::session {

Expected<KernelFilter> KernelFilter::parse(const std::string& option) {
  constexpr std::string_view kRegex = "regex=";
  KernelFilter filter;
  if (!option.starts_with(kRegex)) {
    filter.exact_ = option;
    return filter;
  }
  try {
    filter.regex_.emplace(option.substr(kRegex.size()));
  } catch (const std::regex_error& error) {
    return unexpected({.message = "kernel-name: '" + option.substr(kRegex.size()) +
                                  "' is no regular expression: " + error.what()});
  }
  return filter;
}

bool KernelFilter::matches(const std::string& mangled_name) const {
  if (!regex_ && exact_.empty()) {
    return true;
  }
  const std::string name = report::demangle(mangled_name);
  if (regex_) {
    return std::regex_search(name, *regex_);
  }
  return exact_ == mangled_name || exact_ == name || exact_ == report::without_parameters(name);
}

}  // namespace barracuda::session
