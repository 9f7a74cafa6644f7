#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include "base/options.h"

namespace barracuda {
namespace {

// Expands what follows a percent sign at the front of the rest, and takes it off.
Expected<std::string> expand_one(std::string_view& rest) {
  if (rest.starts_with('%')) {
    rest.remove_prefix(1);
    return "%";
  }
  if (rest.starts_with('p')) {
    rest.remove_prefix(1);
    return std::to_string(::getpid());
  }
  if (!rest.starts_with("q{")) {
    return unexpected({.message = "only %p, %q{VARIABLE} and %% may follow a percent sign"});
  }
  const std::size_t close = rest.find('}');
  if (close == rest.npos) {
    return unexpected({.message = "%q{ has no closing brace"});
  }
  const std::string variable(rest.substr(2, close - 2));
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr) {
    return unexpected({.message = "the environment variable '" + variable + "' is not set"});
  }
  rest.remove_prefix(close + 1);
  return value;
}

}  // namespace

Expected<std::string> expand_file_name(std::string_view pattern) {
  std::string name;
  std::string_view rest = pattern;
  while (!rest.empty()) {
    const std::size_t percent = rest.find('%');
    name += rest.substr(0, percent);
    if (percent == rest.npos) {
      break;
    }
    rest.remove_prefix(percent + 1);
    auto expansion = expand_one(rest);
    if (!expansion) {
      return unexpected({.message = "file name '" + std::string(pattern) +
                                    "': " + std::move(expansion).error().message});
    }
    name += *expansion;
  }
  return name;
}

std::vector<std::string*> report_files(Options& options) {
  return {&options.json,  &options.log_file, &options.html,
          &options.sarif, &options.junit,    &options.generate_suppressions};
}

void make_paths_absolute(Options& options) {
  const auto is_absolute = [](const std::string& pattern) {
    // A variable may hold the beginning of the path.
    const auto expanded = pattern.starts_with('%') ? expand_file_name(pattern) : pattern;
    return !expanded || expanded->starts_with('/');
  };
  std::vector<std::string*> paths = report_files(options);
  paths.insert(paths.end(), {&options.suppressions, &options.baseline, &options.record,
                             &options.fences, &options.fence_places, &options.ptx_folder,
                             &options.weakness, &options.weak_log, &options.jit_cache});
  for (std::string* const path : paths) {
    std::error_code error;
    const bool is_a_word = (path == &options.weakness && *path == kBugaroo) ||
                           (path == &options.jit_cache && *path == "none");
    if (!path->empty() && !is_a_word && !is_absolute(*path)) {
      const auto absolute = std::filesystem::absolute(*path, error);
      *path = error ? *path : absolute.string();
    }
  }
}

bool names_process(std::string_view pattern) {
  for (std::size_t at = pattern.find('%'); at != pattern.npos; at = pattern.find('%', at)) {
    if (pattern.substr(at, 2) == "%p" || pattern.substr(at, 3) == "%q{") {
      return true;
    }
    at = std::min(at + 2, pattern.size());
  }
  return false;
}

}  // namespace barracuda
