#include "cli/run_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"
#include "fatbin/runtime_libraries.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

bool fits_preload(const std::string& path) {
  return path.find_first_of(" \t\n:") == std::string::npos;
}

constexpr const char* kPrefix = "barracuda-run-";

// Spools are written while the program runs: a file system over the network would slow it down, and
// lose them with the connection.
bool is_remote(const fs::path& folder) {
  constexpr std::array<std::uint32_t, 5> kRemote = {0x6969, 0xff534d42, 0xfe534d42, 0x0bd00bd0,
                                                    0x47504653};  // NFS, CIFS, SMB2, Lustre, GPFS
  struct statfs system{};
  return statfs(folder.c_str(), &system) == 0 &&
         std::ranges::find(kRemote, static_cast<std::uint32_t>(system.f_type)) != kRemote.end();
}

fs::path find_parent() {
  std::error_code error;
  const fs::path asked = fs::temp_directory_path(error);
  for (const fs::path& folder : {asked, fs::path("/tmp"), fs::path("/dev/shm")}) {
    if (!folder.empty() && fits_preload(folder) && !is_remote(folder) &&
        access(folder.c_str(), W_OK) == 0) {
      return folder;
    }
  }
  return "/tmp";
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

std::string parent_of_runs() {
  return find_parent().string();
}

bool RunFolder::is_running() const {
  return process != 0 && kill(process, 0) == 0;
}

Expected<RunFolder> read_run(const std::string& path) {
  RunFolder run{.path = path};
  for (const auto& [name, text] :
       {std::pair{"program", &run.program}, std::pair{"options", &run.options}}) {
    TRY(*text, read_file(path + "/" + name));
  }
  TRY(const std::string process, read_file(path + "/process"));
  run.process = std::atoi(process.c_str());
  return run;
}

std::vector<RunFolder> find_runs() {
  std::vector<std::pair<fs::file_time_type, RunFolder>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent_of_runs(), error)) {
    struct stat status{};
    const std::string path = entry.path();
    if (entry.path().filename().string().starts_with(kPrefix) && stat(path.c_str(), &status) == 0 &&
        status.st_uid == getuid()) {
      if (auto run = read_run(path)) {
        found.emplace_back(entry.last_write_time(error), std::move(*run));
      }
    }
  }
  std::ranges::sort(found, {}, &std::pair<fs::file_time_type, RunFolder>::first);
  std::vector<RunFolder> runs;
  runs.reserve(found.size());
  for (auto& [time, run] : found) {
    runs.push_back(std::move(run));
  }
  return runs;
}

Expected<void> RunDirectory::describe(const std::string& program, const Options& options) const {
  for (const auto& [name, text] :
       {std::pair{"program", program}, std::pair{"options", to_string(options)},
        std::pair{"process", std::to_string(getpid())}}) {
    if (auto written = write_file(path_ + "/" + name, text); !written) {
      return written;
    }
  }
  return {};
}

Expected<RunDirectory> RunDirectory::create() {
  std::error_code error;
  std::string path = (fs::path(parent_of_runs()) / (std::string(kPrefix) + "XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    return unexpected(
        {.message = std::string("no temporary folder: ") + std::strerror(errno), .file = path});
  }
  RunDirectory directory(path);
  if (!fs::create_directory(directory.spools(), error)) {
    return unexpected({.message = error.message(), .file = directory.spools()});
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
  std::string folder = path_ + "/lib";
  std::error_code error;
  if (!fs::create_directory(folder, error)) {
    return unexpected({.message = error.message(), .file = folder});
  }
  // Some programs (taichi) ask for the driver without its version.
  std::vector<std::string> names = {"libcuda.so.1", "libcuda.so"};
  names.insert(names.end(), fatbin::kRuntimeLibraries.begin(), fatbin::kRuntimeLibraries.end());
  for (const std::string& name : names) {
    if (auto linked = link(library, fs::path(folder) / name); !linked) {
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
