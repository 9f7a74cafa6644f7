#include "preload/triton_cache.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"

namespace barracuda::preload {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Inductor keeps one for each device in a folder of its own.
std::vector<fs::path> cache_folders() {
  std::vector<fs::path> folders;
  if (const std::string own = environment("TRITON_CACHE_DIR"); !own.empty()) {
    folders.emplace_back(own);
  }
  const std::string triton_home = environment("TRITON_HOME");
  const std::string home = triton_home.empty() ? environment("HOME") : triton_home;
  if (!home.empty()) {
    folders.emplace_back(home + "/.triton/cache");
  }
  std::string inductor = environment("TORCHINDUCTOR_CACHE_DIR");
  if (inductor.empty() && !environment("USER").empty()) {
    inductor = "/tmp/torchinductor_" + environment("USER");
  }
  std::error_code error;
  for (fs::directory_iterator each(inductor + "/triton", error), end; !error && each != end;
       each.increment(error)) {
    folders.push_back(each->path());
  }
  return folders;
}

bool is_private_file(const fs::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The machine code in the caches, by size. What is compiled after the look is known by then
// (assembler_child.h), so that one look at each list of folders is enough.
struct Index {
  std::mutex mutex;
  std::optional<std::vector<fs::path>> folders;
  std::multimap<std::uintmax_t, fs::path> by_size;
};

Index& index() {
  static auto* const instance = new Index;
  return *instance;
}

void add_folder(const fs::path& folder, std::multimap<std::uintmax_t, fs::path>& by_size) {
  std::error_code error;
  for (fs::directory_iterator kernel(folder, error), last; !error && kernel != last;
       kernel.increment(error)) {
    std::error_code inner;
    for (fs::directory_iterator file(kernel->path(), inner), end; !inner && file != end;
         file.increment(inner)) {
      std::error_code gone;
      const std::uintmax_t size = file->file_size(gone);
      if (!gone && file->path().extension() == ".cubin") {
        by_size.emplace(size, file->path());
      }
    }
  }
}

// The PTX beside this machine code, if it is ours.
std::optional<std::string> text_beside(const fs::path& file, std::string_view code) {
  fs::path text_file = file;
  text_file.replace_extension(".ptx");
  if (!is_private_file(file) || !is_private_file(text_file)) {
    return std::nullopt;
  }
  const Expected<std::string> bytes = read_file(file);
  if (!bytes || !bytes->starts_with(code)) {
    return std::nullopt;
  }
  Expected<std::string> text = read_file(text_file);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

}  // namespace

std::optional<session::CodeOrigin> find_in_triton_caches(std::string_view code) {
  constexpr std::uintmax_t kMostPadding = 4096;  // behind the code, in its file
  Index& known = index();
  const std::lock_guard lock(known.mutex);
  if (std::vector<fs::path> folders = cache_folders(); known.folders != folders) {
    known.by_size.clear();
    for (const fs::path& folder : folders) {
      add_folder(folder, known.by_size);
    }
    known.folders = std::move(folders);
  }
  for (auto file = known.by_size.lower_bound(code.size());
       file != known.by_size.end() && file->first <= code.size() + kMostPadding; ++file) {
    if (auto text = text_beside(file->second, code)) {
      return session::CodeOrigin{.texts = {std::move(*text)}, .units = {}, .gap = ""};
    }
  }
  return std::nullopt;
}

}  // namespace barracuda::preload
