#include "report/library_suppressions.h"

#include <dlfcn.h>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "report/library_suppressions_text.h"

namespace barracuda::report {
namespace {

namespace fs = std::filesystem;

// A command that was found in PATH has no folder in its name.
fs::path own_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&library_suppressions_file), &info) == 0) {
    return {};
  }
  const fs::path named = info.dli_fname;
  std::error_code error;
  return fs::canonical(named.has_parent_path() ? named : fs::path("/proc/self/exe"), error);
}

}  // namespace

std::string library_suppressions_file() {
  const fs::path own = own_file();
  if (own.empty()) {
    return {};
  }
  const fs::path file = own.parent_path().parent_path() / "share/barracuda/library.supp";
  std::error_code error;
  return fs::exists(file, error) ? file.string() : std::string();
}

Expected<Suppressions> library_suppressions() {
  const std::string file = library_suppressions_file();
  if (file.empty()) {
    return Suppressions::parse(kLibrarySuppressions, "library.supp");
  }
  TRY(const std::string text, read_file(file));
  return Suppressions::parse(text, file);
}

}  // namespace barracuda::report
