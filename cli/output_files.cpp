#include "cli/output_files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/complain.h"
#include "report/baseline.h"
#include "report/exit_status.h"
#include "report/publish.h"
#include "session/ptx_changes.h"

namespace barracuda::cli {
namespace {

using VariableValue = std::optional<std::string> (*)(const std::string& variable);

// The pattern with the value of each %q{variable}; what has no value stays.
std::string replace_variables(std::string_view pattern, VariableValue value_of) {
  std::string replaced;
  while (!pattern.empty()) {
    const std::size_t close = pattern.starts_with("%q{") ? pattern.find('}') : pattern.npos;
    const bool is_variable = close != pattern.npos;
    const std::size_t taken = is_variable ? close + 1 : pattern.starts_with('%') ? 2 : 1;
    const std::string part(pattern.substr(0, taken));
    const auto value =
        is_variable ? value_of(std::string(pattern.substr(3, close - 3))) : std::nullopt;
    replaced += value.value_or(part);
    pattern.remove_prefix(part.size());
  }
  return replaced;
}

// As text of a pattern.
std::optional<std::string> value_in_pattern(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr) {
    return std::nullopt;
  }
  std::string text;
  for (const char* at = value; *at != '\0'; ++at) {
    text += *at == '%' ? "%%" : std::string(1, *at);
  }
  return text;
}

int open_output(const std::string& pattern, int flags) {
  // A process that has a variable which is not set here knows its value.
  const auto path = expand_file_name(replace_variables(pattern, [](const std::string& variable) {
    return std::optional(value_in_pattern(variable).value_or("x"));
  }));
  if (!path) {
    complain(path.error().message);
    return report::kStatusBadOption;
  }
  if (pattern.empty() || names_process(pattern)) {
    return 0;
  }
  const int file = open(path->c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (file < 0) {
    complain(*path + " cannot be written: " + std::strerror(errno));
    return report::kStatusToolFailed;
  }
  close(file);
  return 0;
}

}  // namespace

void put_in_variables(Options& options) {
  std::vector<std::string*> patterns = report_files(options);
  patterns.insert(patterns.end(), {&options.record, &options.fence_places});
  for (std::string* const pattern : patterns) {
    *pattern = replace_variables(*pattern, value_in_pattern);
  }
}

int check_files(const Options& options) {
  report::Report probe;
  report::apply_filters(probe, options);
  report::apply_baseline(probe, options, report::BaselineUse::kRead);
  if (!probe.option_error.empty()) {
    complain(probe.option_error);
    return report::kStatusBadOption;
  }
  if (const auto changes = session::PtxChanges::read(options); !changes) {
    complain(changes.error().to_string());
    return report::kStatusBadOption;
  }
  Options files = options;
  std::vector<std::string*> patterns = report_files(files);
  patterns.push_back(&files.fence_places);
  for (const std::string* const pattern : patterns) {
    if (const int status = open_output(*pattern, 0); status != 0) {
      return status;
    }
  }
  return 0;
}

int check_output(const std::string& file) {
  struct stat status{};
  const bool is_there = stat(file.c_str(), &status) == 0;
  const std::string folder = std::filesystem::path(file).parent_path();
  if (is_there && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
  } else if (file.empty() || access(is_there         ? file.c_str()
                                    : folder.empty() ? "."
                                                     : folder.c_str(),
                                    W_OK) == 0) {
    return 0;
  }
  complain(file + " cannot be written: " + std::strerror(errno));
  return report::kStatusToolFailed;
}

int begin_output(const std::string& pattern) {
  return open_output(pattern, O_TRUNC);
}

}  // namespace barracuda::cli
