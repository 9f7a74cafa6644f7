#include "cli/output_files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "cli/complain.h"
#include "report/exit_status.h"
#include "report/publish.h"

namespace barracuda::cli {
namespace {

int open_output(const std::string& pattern, int flags) {
  const auto path = expand_file_name(pattern);
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

int check_files(const Options& options) {
  report::Report probe;
  report::apply_filters(probe, options);
  if (!probe.option_error.empty()) {
    complain(probe.option_error);
    return report::kStatusBadOption;
  }
  for (const std::string& pattern : {options.json, options.log_file}) {
    if (const int status = open_output(pattern, 0); status != 0) {
      return status;
    }
  }
  return 0;
}

int begin_output(const std::string& pattern) {
  return open_output(pattern, O_TRUNC);
}

}  // namespace barracuda::cli
