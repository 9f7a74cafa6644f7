#include "report/text_style.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

namespace barracuda::report {
namespace {

constexpr std::size_t kMostColumns = 160;
constexpr std::size_t kFewestColumns = 40;  // as the option's limit

std::size_t columns_of_terminal() {
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return is_known ? std::clamp(std::size_t{size.ws_col}, kFewestColumns, kMostColumns)
                  : kMostColumns;
}

std::string prefix_of(const Options& options) {
  if (options.strip_paths == "none") {
    return {};
  }
  if (options.strip_paths != "auto") {
    return options.strip_paths;
  }
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  return error || folder == "/" ? "" : folder + "/";
}

}  // namespace

TextStyle text_style(const Options& options, TextTarget target) {
  const bool is_terminal = target == TextTarget::kStandardError && isatty(STDERR_FILENO) == 1;
  const std::size_t columns = options.width != "auto"
                                  ? std::strtoull(options.width.c_str(), nullptr, 0)
                              : is_terminal ? columns_of_terminal()
                                            : kMostColumns;
  return {.colour = is_terminal && std::getenv("NO_COLOR") == nullptr,
          .format = text_format(options.format),
          .print_limit = options.print_limit,
          .columns = columns,
          .has_all_frames = options.frames == "all",
          .has_simple_names = options.demangle == "simple",
          .prefix = prefix_of(options)};
}

}  // namespace barracuda::report
