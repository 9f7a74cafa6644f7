#include "cli/environment.h"

#include <unistd.h>

#include "report/spool.h"

namespace barracuda::cli {
namespace {

bool is_variable(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

void set(std::vector<std::string>& environment, std::string_view name, const std::string& value) {
  std::erase_if(environment, [name](const std::string& entry) { return is_variable(entry, name); });
  environment.push_back(std::string(name) + "=" + value);
}

}  // namespace

std::vector<std::string> current_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

std::string value_of(std::span<const std::string> environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (is_variable(entry, name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return "";
}

std::vector<std::string> child_environment(std::span<const std::string> current,
                                           const ToolEnvironment& tool) {
  std::vector<std::string> environment(current.begin(), current.end());
  std::string preload;
  for (const std::string& library : tool.preload) {
    preload += (preload.empty() ? "" : ":") + library;
  }
  const std::string others = value_of(current, "LD_PRELOAD");
  set(environment, "LD_PRELOAD", others.empty() ? preload : preload + ":" + others);
  if (!tool.library_folder.empty()) {
    const std::string path = value_of(current, "LD_LIBRARY_PATH");
    set(environment, "LD_LIBRARY_PATH",
        path.empty() ? tool.library_folder : tool.library_folder + ":" + path);
  }
  set(environment, "BARRACUDA_OPTIONS", to_string(tool.options));
  set(environment, report::kRunDirectoryVariable, tool.run_directory);
  for (const std::string& cache : tool.caches) {
    const std::size_t end = cache.find('=');
    set(environment, cache.substr(0, end), cache.substr(end + 1));
  }
  return environment;
}

}  // namespace barracuda::cli
