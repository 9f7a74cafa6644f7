#include "report/python_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace barracuda::report {
namespace {

constexpr std::array<std::string_view, 4> kPackageFolders = {"/site-packages/", "/dist-packages/",
                                                             "/lib/python3.", "/lib64/python3."};

// Of generated code, where no variable says otherwise; the last is ours.
constexpr std::array<std::string_view, 3> kCacheFolders = {"/torchinductor_", "/.triton/",
                                                           "/barracuda/origins/"};
constexpr std::array kCacheVariables = {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"};

constexpr std::string_view kCommandLine = "<string>";  // and what a package has made and executed
constexpr std::array<std::string_view, 5> kTyped = {"<stdin>", "<console>", "<ipython-input",
                                                    "<python-input", "<doctest "};

template <typename Folders>
bool is_below_any(std::string_view path, const Folders& folders) {
  return std::ranges::any_of(
      folders, [path](std::string_view folder) { return path.find(folder) != path.npos; });
}

bool is_generated(std::string_view path) {
  return is_below_any(path, kCacheFolders) ||
         std::ranges::any_of(kCacheVariables, [path](const char* variable) {
           const char* const value = std::getenv(variable);
           const std::string_view folder = value == nullptr ? "" : value;
           return !folder.empty() && path.starts_with(folder) &&
                  (folder.ends_with('/') || path.substr(folder.size()).starts_with('/'));
         });
}

bool is_file_of_others(std::string_view path) {
  return path.empty() || path.starts_with('<') || is_of_python_package(path) || is_generated(path);
}

// An installer writes these to start a package.
bool is_command(std::string_view path) {
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0, name).ends_with("/bin/") && !path.ends_with(".py");
}

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool is_typed(const std::string& file, bool is_command_line) {
  return (is_command_line && file == kCommandLine) ||
         std::ranges::any_of(kTyped, [&](std::string_view name) { return file.starts_with(name); });
}

}  // namespace

bool is_of_python_package(std::string_view path) {
  return is_below_any(path, kPackageFolders);
}

bool is_own_python_file(const std::string& path) {
  return !is_file_of_others(path) && !is_command(path) && is_there(path);
}

std::size_t own_python_frame(const std::vector<std::string>& files) {
  const auto index = [&](auto file) { return static_cast<std::size_t>(file - files.begin()); };
  if (const auto own = std::ranges::find_if(files, is_own_python_file); own != files.end()) {
    return index(own);
  }
  // A package may have generated and executed text as well: the outermost is the user's.
  const bool is_command_line = files.back() == kCommandLine;
  std::size_t outside = files.size();
  while (outside != 0 && !is_typed(files[outside - 1], is_command_line)) {
    --outside;
  }
  if (outside != 0) {
    std::size_t innermost = outside - 1;
    while (innermost != 0 && is_typed(files[innermost - 1], is_command_line)) {
      --innermost;
    }
    return innermost;
  }
  if (const auto absent = std::ranges::find_if_not(files, is_file_of_others);
      absent != files.end()) {
    return index(absent);
  }
  const auto readable = std::ranges::find_if(files, is_there);
  return readable == files.end() ? 0 : index(readable);
}

}  // namespace barracuda::report
