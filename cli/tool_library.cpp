#include "cli/tool_library.h"

#include <filesystem>
#include <system_error>

namespace barracuda::cli {

namespace fs = std::filesystem;

Expected<std::string> find_tool_library() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = self.parent_path().parent_path() / "lib" / "libbarracuda.so";
  if (error || !fs::exists(library, error)) {
    return unexpected({.message = "the library is missing: it belongs beside this command, at " +
                                  library.string()});
  }
  return library.string();
}

std::vector<std::string> sanitizer_runtimes_of(const fatbin::HostImage& image) {
  std::vector<std::string> runtimes;
  for (const std::string& needed : image.needed) {
    if (needed.starts_with("libasan.") || needed.starts_with("libubsan.") ||
        needed.starts_with("libtsan.")) {
      runtimes.push_back(needed);
    }
  }
  return runtimes;
}

std::vector<std::string> sanitizer_runtimes_of(const std::string& file) {
  const auto image = fatbin::read_host_image(file);
  return image ? sanitizer_runtimes_of(*image) : std::vector<std::string>();
}

}  // namespace barracuda::cli
