#include "base/cache_folder.h"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace barracuda {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string cache_folder(const Options& options) {
  if (options.jit_cache == "none" || options.jit_cache_size == 0 ||
      environment("CUDA_CACHE_DISABLE") == "1" || environment("CUDA_FORCE_PTX_JIT") == "1") {
    return {};
  }
  if (!options.jit_cache.empty()) {
    std::error_code ignored;  // the program may change its folder
    return std::filesystem::absolute(options.jit_cache, ignored).string();
  }
  const std::string cache = environment("XDG_CACHE_HOME");
  const std::string home = environment("HOME");
  if (cache.starts_with('/')) {
    return cache + "/barracuda";
  }
  return home.starts_with('/') ? home + "/.cache/barracuda" : "";
}

bool is_private_folder(const std::string& folder) {
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace barracuda
