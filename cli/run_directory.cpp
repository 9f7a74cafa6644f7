#include "cli/run_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

bool fits_preload(const std::string& path) {
  return path.find_first_of(" \t\n:") == std::string::npos;
}

Expected<void> link(const std::string& target, const std::string& path) {
  std::error_code error;
  fs::create_symlink(target, path, error);
  if (error) {
    return unexpected({.message = error.message(), .file = path});
  }
  return {};
}

}  // namespace

Expected<RunDirectory> RunDirectory::create() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error || !fits_preload(parent)) {
    parent = "/tmp";
  }
  std::string path = (parent / "barracuda-run-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return unexpected(
        {.message = std::string("no temporary folder: ") + std::strerror(errno), .file = path});
  }
  RunDirectory directory(path);
  if (!fs::create_directory(directory.reports(), error)) {
    return unexpected({.message = error.message(), .file = directory.reports()});
  }
  return directory;
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::exchange(other.path_, std::string())) {}

RunDirectory::~RunDirectory() {
  if (!path_.empty()) {
    std::error_code error;
    fs::remove_all(path_, error);
  }
}

Expected<std::string> RunDirectory::link_cuda_libraries(const std::string& library) const {
  const std::string folder = path_ + "/lib";
  std::error_code error;
  if (!fs::create_directory(folder, error)) {
    return unexpected({.message = error.message(), .file = folder});
  }
  // Some programs (taichi) ask for the driver without its version.
  for (const char* const name : {"libcudart.so.13", "libcuda.so.1", "libcuda.so"}) {
    if (auto linked = link(library, folder + "/" + name); !linked) {
      return unexpected(std::move(linked).error());
    }
  }
  return folder;
}

Expected<std::string> RunDirectory::preloadable(const std::string& library) const {
  if (fits_preload(library)) {
    return library;
  }
  // A link to the folder, not to the library: what lies beside it is found through $ORIGIN.
  const fs::path path(library);
  const std::string folder = path_ + "/tool";
  if (auto linked = link(path.parent_path(), folder); !linked) {
    return unexpected(std::move(linked).error());
  }
  return folder + "/" + path.filename().string();
}

}  // namespace barracuda::cli
