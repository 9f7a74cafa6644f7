#include "cli/program_file.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "fatbin/host_image.h"

namespace barracuda::cli {

std::string find_program(const std::string& word) {
  if (word.find('/') != std::string::npos) {
    return access(word.c_str(), X_OK) == 0 ? word : "";
  }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    const std::string file = (folder.empty() ? "." : folder) + "/" + word;
    if (access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return "";
}

std::vector<std::string> obstacles(const std::string& word, bool is_emulated) {
  const std::string file = find_program(word);
  const auto image = fatbin::read_host_image(file);
  if (file.empty() || !image) {
    return {};  // a script, say
  }
  if (image->needed.empty()) {
    return {file +
            " is a static executable: no library can be loaded into it. Link it dynamically"};
  }
  if (is_emulated && !image->other_runtime().empty()) {
    return {
        file + " is linked with " + image->other_runtime() +
        ", and the emulated device, on which kernels run here, stands in for the CUDA runtimes of "
        "11.x, 12.x and 13.x: build it with one of these"};
  }
  if (is_emulated && fatbin::contains_static_runtime(file, *image)) {
    return {file +
            " is linked with the static CUDA runtime, which needs NVIDIA's driver, and kernels run "
            "on the emulated device here. Build it with nvcc -cudart shared (or set "
            "NVCC_APPEND_FLAGS=\"-cudart shared\" for the build)"};
  }
  return {};
}

}  // namespace barracuda::cli
