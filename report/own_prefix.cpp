#include "report/own_prefix.h"

#include <dlfcn.h>
#include <filesystem>
#include <system_error>

namespace barracuda::report {
namespace {

namespace fs = std::filesystem;

// A command that was found in PATH has no folder in its name.
fs::path own_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&file_in_prefix), &info) == 0) {
    return {};
  }
  const fs::path named = info.dli_fname;
  std::error_code error;
  return fs::canonical(named.has_parent_path() ? named : fs::path("/proc/self/exe"), error);
}

}  // namespace

std::string file_in_prefix(std::string_view name) {
  const fs::path own = own_file();
  if (own.empty()) {
    return {};
  }
  const fs::path file = own.parent_path().parent_path() / name;
  std::error_code error;
  return fs::exists(file, error) ? file.string() : std::string();
}

}  // namespace barracuda::report
